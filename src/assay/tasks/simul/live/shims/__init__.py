# SPDX-License-Identifier: Apache-2.0
"""Modules under the names that old agent files import, where the real packages are not installed.

`simuleval` (1.1 and 1.0 side by side) and `agents` (the 2020 evaluation of fairseq). They are put
into `sys.modules` when an agent file is about to be imported, and never over a real package.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

SCORERS = "simuleval.evaluator.scorers.latency_scorer"
"""Where latency scorers are registered, and looked for."""

INSTANCES = "simuleval.evaluator.instance"
"""Where what they are given is defined."""

SEGMENTS = "simuleval.data.segments"
"""What agents are pushed and give back. SimulEval's own classes know no others."""

SYSTEMS = "simuleval.utils.agent"
"""Where `@entrypoint` notes which classes were marked."""

OLD_PACKAGE = "agents"
"""The package that agents of the 2020 evaluation live in, and import from by a dot."""


@dataclass
class Shims:
    """What was put in place."""

    names: set[str] = field(default_factory=set)

    @property
    def entries(self) -> list[type]:
        """The classes that were marked with `@entrypoint`, ours or that of SimulEval."""
        found: list[type] = getattr(sys.modules.get(SYSTEMS), "EVALUATION_SYSTEM_LIST", [])
        return found

    def segments(self) -> ModuleType:
        """The module of segments that agents import."""
        return importlib.import_module(SEGMENTS)


@cache
def installed_shims() -> Shims:
    """Put the modules in place, once."""
    shims = Shims()
    if not _is_there("simuleval"):
        _install(shims, _simuleval())
    if not _is_there(OLD_PACKAGE):
        _install(shims, _old())
    return shims


def _is_there(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _install(shims: Shims, modules: dict[str, dict[str, Any]]) -> None:
    made = {}
    for name, contents in modules.items():
        module = ModuleType(name, "Stands for a package that is not installed.")
        module.__path__ = []
        vars(module).update(contents)
        made[name] = module
    for name, module in made.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(made[parent], child, module)
        sys.modules[name] = module
        shims.names.add(name)


def _simuleval() -> dict[str, dict[str, Any]]:
    from assay.tasks.simul.live.shims import (
        actions,
        generic,
        instances,
        middle,
        pipeline,
        scorers,
        segments,
        states,
    )

    marked: list[type] = []

    def entrypoint(found: type) -> type:
        marked.append(found)
        return found

    names = ("Segment", "TextSegment", "SpeechSegment", "SpeechTextSegment", "EmptySegment")
    data = {n: getattr(segments, n) for n in (*names, "segment_from_json_string")}
    acts = {n: getattr(actions, n) for n in ("Action", "ReadAction", "WriteAction")}
    kinds = (
        "GenericAgent",
        "TextToTextAgent",
        "SpeechToTextAgent",
        "TextToSpeechAgent",
        "SpeechToSpeechAgent",
    )
    typed = {n: getattr(generic, n) for n in kinds}
    lines = {n: getattr(pipeline, n) for n in ("AgentPipeline", "TreeAgentPipeline")}
    old = {n: getattr(middle, n) for n in ("Agent", "TextAgent", "SpeechAgent")}
    words = {n: getattr(middle, n) for n in ("READ_ACTION", "WRITE_ACTION", "DEFAULT_EOS")}
    held = ("ListEntry", "QueueEntry", "TextStates", "SpeechStates", "BaseStates")
    state = {"AgentStates": states.AgentStates}
    stream = {n: getattr(instances, n) for n in ("Instance", "LogInstance")}
    return {
        "simuleval": {**words, "__version__": "1.1.4"},
        "simuleval.agents": {**typed, **lines, **state, **old, **acts},
        "simuleval.agents.agent": {**typed, **old},
        "simuleval.agents.actions": acts,
        "simuleval.agents.states": state,
        "simuleval.agents.pipeline": lines,
        "simuleval.states": {n: getattr(middle, n) for n in held},
        "simuleval.data": {},
        SEGMENTS: data,
        "simuleval.utils": {"entrypoint": entrypoint},
        SYSTEMS: {"EVALUATION_SYSTEM_LIST": marked},
        "simuleval.utils.functional": {"find_free_port": generic.find_free_port},
        "simuleval.evaluator": {},
        INSTANCES: stream,
        "simuleval.evaluator.scorers": {},
        SCORERS: scorers.NAMES,
        "simuleval.cli": {"main": generic.no_command, "sys": sys},
    }


def _old() -> dict[str, dict[str, Any]]:
    from assay.tasks.simul.live.agents import agent, registry, translation

    contents = {
        "Agent": agent.Agent,
        "SimulTransAgent": translation.TranslationAgent,
        "register_agent": registry.register_agent,
        "GET": agent.GET,
        "SEND": agent.SEND,
        "DEFAULT_EOS": agent.END,
    }
    names = (OLD_PACKAGE, f"{OLD_PACKAGE}.agent", f"{OLD_PACKAGE}.simul_trans_agent")
    return {name: contents for name in names}
