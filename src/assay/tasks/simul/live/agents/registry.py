# SPDX-License-Identifier: Apache-2.0
"""Agents by name: those that come with Assay, those of installed packages, those in a file."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from assay.core.errors import UsageError

T = TypeVar("T", bound=type)

_agents: dict[str, type] = {}


def register_agent(name: str, *aliases: str) -> Callable[[T], T]:
    """Make a class known by name: `@register_agent("my_agent")`."""

    def register(found: T) -> T:
        for each in (name, *aliases):
            taken = _agents.get(each)
            if taken is not None and _place(taken) != _place(found):
                raise UsageError(f"there is an agent '{each}' already ({_place(taken)})")
        same = next((n for n, c in _agents.items() if c.__name__ == found.__name__), None)
        if same is not None and _place(_agents[same]) != _place(found):
            raise UsageError(f"there is an agent class {found.__name__} already ('{same}')")
        for each in (name, *aliases):
            _agents[each] = found
        return found

    return register


def agent_names() -> dict[str, type]:
    """All agents by name; those of installed packages by entry point (group `assay.agents`)."""
    from importlib.metadata import entry_points

    importlib.import_module("assay.tasks.simul.live.agents.waitk")
    found = dict(_agents)
    for point in entry_points(group="assay.agents"):
        if point.name not in found:
            found[point.name] = point.load()
    return found


def agent_by_name(name: str) -> type:
    """The agent class of this name."""
    known = agent_names()
    if name in known:
        return known[name]
    from assay.core.names import unknown

    raise unknown("agent", name, known)


@cache
def agent_in_file(path: str, class_name: str | None = None) -> type:
    """The agent class in a Python file: the one named, registered or marked, or the only one.

    Agents that were written for SimulEval or fairseq are imported through shims where those
    packages are not installed.
    """
    from assay.tasks.simul.live.shims import installed_shims

    before, shims = dict(_agents), installed_shims()
    n_marked = len(shims.entries)
    module = _imported(path)
    if class_name is not None:
        found = getattr(module, class_name.rpartition(".")[2], None)
        if not isinstance(found, type):
            raise UsageError(f"{path} has no class {class_name}; check --agent-class")
        return found
    own = module.__name__
    marked = [c for c in shims.entries[n_marked:] if c.__module__ == own]
    new = [c for n, c in _agents.items() if before.get(n) is not c and c.__module__ == own]
    chosen = list(dict.fromkeys(marked or new or _own_agents(module)))
    if len(chosen) != 1:
        names = ", ".join(c.__name__ for c in chosen) or "none"
        raise UsageError(
            f"{path} must hold one agent class and has {names}; name it with --agent-class"
        )
    return chosen[0]


def _own_agents(module: Any) -> list[type]:
    """Classes defined in the module that have a policy and that no other of them derives from."""
    own = [
        c
        for c in vars(module).values()
        if isinstance(c, type)
        and c.__module__ == module.__name__
        and (callable(getattr(c, "policy", None)) or hasattr(c, "pipeline"))
        and not getattr(c, "__abstractmethods__", None)
    ]
    pipelines = [c for c in own if getattr(c, "pipeline", None)]
    if pipelines:
        return pipelines
    return [c for c in own if not any(o is not c and issubclass(o, c) for o in own)]


def _imported(path: str) -> Any:
    import importlib.util

    from assay.tasks.simul.live.shims import OLD_PACKAGE, installed_shims

    file = Path(path)
    if not file.is_file():
        raise UsageError(f"there is no agent file {path}; check --agent")
    name = f"file_{file.stem}"
    if OLD_PACKAGE in installed_shims().names:  # so that `from . import Agent` works
        name = f"{OLD_PACKAGE}.{name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; give one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.absolute().parent)
    if folder not in sys.path:  # an agent may import what lies beside it
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except Exception as error:
        where = _line_in(error, file)
        raise UsageError(
            f"{path}{where} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module


def _line_in(error: BaseException, file: Path) -> str:
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno
    return f", line {line}" if line is not None else ""


def _place(found: type) -> str:
    return f"{found.__module__}.{found.__qualname__}"
