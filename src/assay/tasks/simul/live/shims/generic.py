# SPDX-License-Identifier: Apache-2.0
"""The agent classes of SimulEval 1.1."""

from __future__ import annotations

import inspect
import socket
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn, Self

from assay.core.errors import UsageError
from assay.tasks.simul.live.shims.actions import Action
from assay.tasks.simul.live.shims.segments import (
    EmptySegment,
    Segment,
    SpeechSegment,
    TextSegment,
)
from assay.tasks.simul.live.shims.states import AgentStates


class GenericAgent:
    """An agent that is pushed source segments and popped target segments."""

    source_type: str | None = None
    target_type: str | None = None

    def __init__(self, args: Namespace | None = None) -> None:
        self.args = args
        self.device = "cpu"
        self.states = self.build_states()

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Declare options of the agent's own."""

    @classmethod
    def from_args(cls, args: Namespace | None = None, **more: Any) -> Self:
        """An agent with these options."""
        return cls(args)

    def build_states(self) -> AgentStates:
        """States for a sentence."""
        return AgentStates()

    def reset(self) -> None:
        """A new sentence."""
        self.states.reset()

    def to(self, device: str, *args: Any, **options: Any) -> None:
        """Move the model to a device."""
        self.device = device

    def policy(self, states: AgentStates | None = None) -> Action:
        """What to do next."""
        raise NotImplementedError(f"{type(self).__name__} has no policy")

    def push(
        self,
        source_segment: Segment,
        states: AgentStates | None = None,
        upstream_states: list[AgentStates] | None = None,
    ) -> None:
        """Source comes in."""
        held = self.states if states is None else states
        if upstream_states is not None:
            held.upstream_states = upstream_states
        held.update_source(source_segment)

    def pop(self, states: AgentStates | None = None) -> Segment:
        """What the agent does about it."""
        held = self.states if states is None else states
        if held.target_finished:
            return EmptySegment(finished=True)
        action = self._decided(states)
        if not isinstance(action, Action):
            raise RuntimeError(f"the policy gave {action!r}, not a ReadAction or WriteAction")
        if action.is_read():
            return EmptySegment()
        content = action.content  # type: ignore[attr-defined]  # a write has content
        finished = bool(action.finished)  # type: ignore[attr-defined]
        if isinstance(content, Segment):
            held.target_finished = content.finished
            return content
        segment = self._segment(content, finished, held)
        held.update_target(segment)
        return segment

    def pushpop(
        self,
        segment: Segment,
        states: AgentStates | None = None,
        upstream_states: list[AgentStates] | None = None,
    ) -> Segment:
        """Both."""
        self.push(segment, states, upstream_states)
        return self.pop(states)

    def _decided(self, states: AgentStates | None) -> Any:
        if _takes_states(type(self).policy):
            return self.policy(self.states if states is None else states)
        if states is not None:
            raise RuntimeError(f"the policy of {type(self).__name__} takes no states")
        return self.policy()

    def _segment(self, content: Any, finished: bool, states: AgentStates) -> Segment:
        about: dict[str, Any] = {"finished": finished, "tgt_lang": states.tgt_lang}
        if (self.target_type or "text").lower() == "text" or isinstance(content, str):
            return TextSegment(content=content, **about)
        if not len(content):
            return EmptySegment(**about)
        return SpeechSegment(content=content, sample_rate=states.target_sample_rate, **about)

    def __str__(self) -> str:
        return f"{type(self).__name__}[{self.source_type} -> {self.target_type}]"


@cache
def _takes_states(policy: Callable[..., Any]) -> bool:
    return "states" in inspect.signature(policy).parameters


class TextToTextAgent(GenericAgent):
    """Text in, text out."""

    source_type = "text"
    target_type = "text"


class SpeechToTextAgent(GenericAgent):
    """Speech in, text out."""

    source_type = "speech"
    target_type = "text"


class TextToSpeechAgent(GenericAgent):
    """Text in, speech out."""

    source_type = "text"
    target_type = "speech"


class SpeechToSpeechAgent(GenericAgent):
    """Speech in, speech out."""

    source_type = "speech"
    target_type = "speech"


def find_free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def no_command(*arguments: Any) -> NoReturn:
    """What `simuleval.cli.main` is where SimulEval is not installed."""
    raise UsageError("SimulEval is not installed; run the agent with 'assay simul run --agent ...'")
