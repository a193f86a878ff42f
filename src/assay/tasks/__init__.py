# SPDX-License-Identifier: Apache-2.0
"""The tasks, one folder each, found by folder name; those of other packages by entry point.

`load("sparql")` imports that folder and no other. A folder's `__init__` holds `TASK`.
"""

from __future__ import annotations

import importlib
import os

TYPE_CHECKING = False  # `typing`, and `pkgutil` for names, would take half the time that help takes
if TYPE_CHECKING:
    from assay.core.task import Task


def names() -> list[str]:
    """The tasks that come with Assay."""
    folders = [os.path.join(path, name) for path in __path__ for name in os.listdir(path)]
    return sorted(os.path.basename(f) for f in folders if os.path.isfile(_beginning(f)))


def summary(name: str) -> str:
    """What a task is for, in one line: that of its docstring, read without importing it.

    >>> summary("text") == load("text").summary
    True
    """
    with open(_beginning(os.path.join(__path__[0], name)), encoding="utf-8") as file:
        return file.read().split('"""')[1].partition("\n")[0]


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


def _beginning(folder: str) -> str:
    return os.path.join(folder, "__init__.py")


def plugins() -> dict[str, Task]:
    """Tasks of installed packages (entry point group `assay.tasks`)."""
    from assay.core.plugins import plugins

    return dict(plugins("assay.tasks"))
