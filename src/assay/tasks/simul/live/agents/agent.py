# SPDX-License-Identifier: Apache-2.0
"""The agent class: it is asked again and again what to do, and answers GET or SEND."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any, ClassVar

from assay.tasks.simul.live.corpus import END

GET = 0
SEND = 1
Action = Mapping[str, Any]
States = Any

__all__ = ["END", "GET", "SEND", "Action", "Agent", "States"]


class Agent(ABC):
    """A system under test.

    For each sentence `reset` and `init_states` are called once, then `policy` until the end mark
    `</s>` has been sent. `policy` gives an action: `{"key": GET, "value": None}` for one more word
    (or `{"segment_size": milliseconds}` as value for audio), `{"key": SEND, "value": "words"}` to
    write. The strings "GET" and "SEND" do as well. What is read comes in through `update_states`,
    as `{"sent_id": ..., "segment_id": ..., "segment": ...}`.

    Each worker has an agent of its own, so `self` may hold whatever belongs to one sentence;
    `states` is the better place. `source_type` says what the agent reads, "text" or "speech"; one
    that says so needs no --source-type.
    """

    source_type: ClassVar[str | None] = None

    def __init__(self, args: Namespace) -> None:
        self.args = args

    @staticmethod  # noqa: B027  # most agents have none
    def add_args(parser: ArgumentParser) -> None:
        """Declare options of the agent's own."""

    @abstractmethod
    def init_states(self) -> States:
        """The states with which a sentence begins."""

    @abstractmethod
    def update_states(self, states: States, new_state: Mapping[str, Any]) -> States:
        """The states with what was read; may change `states` and give it back."""

    @abstractmethod
    def policy(self, states: States) -> Action:
        """What to do next."""

    def finish_eval(self, states: States, new_state: Mapping[str, Any] | None) -> bool:
        """Whether the sentence is over although no end mark was sent; asked after each action.

        The end mark is then sent for the agent.
        """
        return False

    def reset(self) -> None:  # noqa: B027  # an agent that keeps all in its states has none
        """Forget the sentence before."""
