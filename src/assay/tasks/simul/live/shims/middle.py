# SPDX-License-Identifier: Apache-2.0
"""The agent classes of SimulEval 1.0: `policy` says read or write, `predict` says what."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

READ_ACTION = "read_action"
WRITE_ACTION = "write_action"
DEFAULT_EOS = "</s>"


class ListEntry:
    """A list of units; `value` is the list itself."""

    def __init__(self, value: Iterable[Any] = ()) -> None:
        self.value: list[Any] = list(value)

    def append(self, unit: Any) -> None:
        """Add a unit at the end."""
        self.value.append(unit)

    push = append

    def extend(self, units: Iterable[Any]) -> None:
        """Add some."""
        self.value.extend(units)

    def length(self) -> int:
        """How many there are."""
        return len(self.value)

    def empty(self) -> bool:
        """Whether there are none."""
        return not self.value

    def clear(self) -> None:
        """Drop all."""
        self.value.clear()

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __iadd__(self, units: Iterable[Any]) -> ListEntry:
        self.value.extend(units)
        return self


class QueueEntry(ListEntry):
    """A list that is taken from at the front."""

    def pop(self) -> Any:
        """Take the first unit."""
        return self.value.pop(0)

    def peek(self) -> Any:
        """Look at the first unit."""
        return self.value[0]


class BaseStates:
    """What has been read and written of a sentence: `units` for the model, `segments` as sent.

    `units.target` is all that was predicted, `unit_queue.target` what of it was not sent yet.
    """

    def __init__(
        self, args: Any = None, client: Any = None, instance_id: int = 0, agent: Any = None
    ) -> None:
        self.args = args
        self.client = client
        self.instance_id = instance_id
        self.agent = agent
        self.units = SimpleNamespace(source=ListEntry(), target=ListEntry())
        self.unit_queue = SimpleNamespace(source=QueueEntry(), target=QueueEntry())
        self.segments = SimpleNamespace(source=ListEntry(), target=ListEntry())
        self.read_all = False
        self.wrote_all = False

    @property
    def source(self) -> ListEntry:
        """Source units so far."""
        found: ListEntry = self.units.source
        return found

    @property
    def target(self) -> ListEntry:
        """Target units so far."""
        found: ListEntry = self.units.target
        return found

    def finish_read(self) -> bool:
        """Whether the source is over."""
        return self.read_all

    def finish_hypo(self) -> bool:
        """Whether the end mark was written."""
        return self.wrote_all


class TextStates(BaseStates):
    """States of an agent that reads text."""


class SpeechStates(BaseStates):
    """States of an agent that reads speech."""


class Agent:
    """Base of the agents of SimulEval 1.0."""

    data_type: str | None = None
    speech_segment_size = 10

    def __init__(self, args: Namespace) -> None:
        self.args = args

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Declare options of the agent's own."""

    def states_type(self, args: Any, client: Any, instance_id: int) -> BaseStates:
        """States of the kind that fits."""
        kind = SpeechStates if self.data_type == "speech" else TextStates
        return kind(args, client, instance_id, self)

    def build_states(self, args: Any, client: Any, instance_id: int) -> BaseStates:
        """States for a sentence."""
        states = self.states_type(args, client, instance_id)
        self.initialize_states(states)
        return states

    def initialize_states(self, states: BaseStates) -> None:
        """Add what the agent wants to remember."""

    def segment_to_units(self, segment: Any, states: BaseStates) -> list[Any]:
        """Units for the model from what was read."""
        return list(segment) if isinstance(segment, (list, tuple)) else [segment]

    def units_to_segment(self, unit_queue: Any, states: BaseStates) -> Any:
        """What can be sent of the units that wait; None if nothing yet.

        Takes what it sends from the front.
        """
        return unit_queue.pop()

    def update_states_read(self, states: BaseStates) -> None:
        """Something was read."""

    def update_states_write(self, states: BaseStates) -> None:
        """Something was predicted."""

    def policy(self, states: BaseStates) -> str:
        """READ_ACTION or WRITE_ACTION."""
        raise NotImplementedError(f"{type(self).__name__} has no policy")

    def predict(self, states: BaseStates) -> Any:
        """The next unit."""
        raise NotImplementedError(f"{type(self).__name__} has no predict")


class TextAgent(Agent):
    """Reads text."""

    data_type = "text"


class SpeechAgent(Agent):
    """Reads speech."""

    data_type = "speech"
