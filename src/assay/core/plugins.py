# SPDX-License-Identifier: Apache-2.0
"""What installed packages bring along, by entry point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.core.errors import UsageError


def plugins(group: str) -> Iterator[tuple[str, Any]]:
    """Name and object of every entry point of a group, imported now."""
    from importlib.metadata import entry_points  # slow to import

    for point in entry_points(group=group):
        try:
            yield point.name, point.load()
        except Exception as error:  # whatever a stranger's module does when it is imported
            package = point.dist.name if point.dist is not None else point.module
            raise UsageError(
                f"plug-in '{point.name}' of the package {package} cannot be loaded "
                f"({type(error).__name__}: {error}); update it, or run: pip uninstall {package}"
            ) from error
