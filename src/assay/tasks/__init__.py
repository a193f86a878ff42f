# SPDX-License-Identifier: Apache-2.0
"""The tasks, one folder each, found by folder name; those of other packages by entry point.

`load("sparql")` imports that folder and no other. A folder's `__init__` holds `TASK`.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.core.task import Task


def names() -> list[str]:
    """The tasks that come with Assay."""
    return [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]


def summary(name: str) -> str:
    """What a task is for, in one line: that of its docstring, read without importing it.

    >>> summary("text") == load("text").summary
    True
    """
    source = pkgutil.get_data(__name__, f"{name}/__init__.py") or b""
    return source.decode().split('"""')[1].partition("\n")[0]


def load(name: str) -> Task:
    """The task of this name.

    >>> load("text").name
    'text'
    """
    if name in names():
        found: Task = importlib.import_module(f"{__name__}.{name}").TASK
        return found
    outside = plugins()
    if name in outside:
        return outside[name]
    from assay.core.names import unknown

    raise unknown("task", name, [*names(), *outside])


def plugins() -> dict[str, Task]:
    """Tasks of installed packages (entry point group `assay.tasks`)."""
    from assay.core.plugins import plugins

    return dict(plugins("assay.tasks"))
