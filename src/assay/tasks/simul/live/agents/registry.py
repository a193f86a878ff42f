# SPDX-License-Identifier: Apache-2.0
"""Agents by name: those that come with Assay, those of installed packages, those in a file."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from assay.core.errors import UsageError
from assay.tasks.simul.live.agents.importable import make_importable

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
    brought = imported(path)
    module = brought.module
    if class_name is not None:
        found = getattr(module, class_name.rpartition(".")[2], None)
        if not isinstance(found, type):
            raise UsageError(f"{path} has no class {class_name}; check --agent-class")
        return found
    own = module.__name__
    marked = [c for c in brought.marked if c.__module__ == own]
    new = [c for c in brought.agents if c.__module__ == own]
    chosen = list(dict.fromkeys(marked or new or _own_agents(module)))
    if len(chosen) != 1:
        names = ", ".join(c.__name__ for c in chosen) or "none"
        raise UsageError(
            f"{path} must hold one agent class and has {names}; name it with --agent-class"
        )
    return chosen[0]


class Brought(NamedTuple):
    """What a file brought along: classes that it marked or registered as agents, and latency
    scorers by name."""

    module: ModuleType
    marked: Sequence[type]
    agents: Sequence[type]
    scorers: Mapping[str, type]


@cache
def imported(path: str) -> Brought:
    """Run a Python file, or the `__init__.py` of a folder; once, however often it is asked for."""
    from assay.tasks.simul.live.shims import installed_shims

    shims = installed_shims()
    agents, n_marked, scorers = dict(_agents), len(shims.entries), _scorers()
    module = _imported(path)
    return Brought(
        module,
        shims.entries[n_marked:],
        [c for n, c in _agents.items() if agents.get(n) is not c],
        {n: c for n, c in _scorers().items() if scorers.get(n) is not c},
    )


def _scorers() -> dict[str, type]:
    """Scorers that are registered now, without those that SimulEval has itself."""
    from assay.tasks.simul.live.shims import SCORERS

    found: dict[str, type] = getattr(sys.modules.get(SCORERS), "LATENCY_SCORERS_DICT", {})
    return {n: c for n, c in found.items() if not c.__module__.startswith(("simuleval.", "assay."))}


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


def _imported(path: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    from assay.tasks.simul.live.shims import OLD_PACKAGE, installed_shims

    file, inside = Path(path), None
    if file.is_dir():
        name, file, inside = f"folder_{file.name}", file / "__init__.py", [str(file.absolute())]
        if not file.is_file():
            raise UsageError(f"{path} has no __init__.py; give a file with --agent instead")
    elif not file.is_file():
        raise UsageError(f"there is no agent file {path}; check --agent")
    else:
        name = f"file_{file.stem}"
        if OLD_PACKAGE in installed_shims().names:  # so that `from . import Agent` works
            name = f"{OLD_PACKAGE}.{name}"
    spec = spec_from_file_location(name, file, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; give one that ends in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    make_importable(Path(path).absolute().parent)
    try:
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except Exception as error:
        where = line_in(error, file)
        raise UsageError(
            f"{path}{where} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module


def line_in(error: BaseException, file: Path) -> str:
    """`, line 3`: where in this file an error came about, if it did."""
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
