# SPDX-License-Identifier: Apache-2.0
"""Agents behind one another, as SimulEval 1.1 has them: in a line, or as a tree."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, Self

from assay.tasks.simul.live.shims.generic import GenericAgent
from assay.tasks.simul.live.shims.segments import EmptySegment, Segment
from assay.tasks.simul.live.shims.states import AgentStates


class AgentPipeline(GenericAgent):
    """What one agent writes is the source of the next. Set `pipeline = [First, Second]`."""

    pipeline: Any = ()

    def __init__(self, module_list: Sequence[GenericAgent]) -> None:
        self.module_list = list(module_list)
        self._check(list(zip(self.module_list, self.module_list[1:], strict=False)))
        super().__init__()

    def _check(self, joints: list[tuple[GenericAgent, GenericAgent]]) -> None:
        for first, second in joints:
            if _kind(first.target_type) != _kind(second.source_type):
                raise RuntimeError(f"{first} cannot feed {second}: the types do not fit")

    @property
    def source_type(self) -> str | None:  # type: ignore[override]
        """That of the first agent."""
        return self.module_list[0].source_type

    @property
    def target_type(self) -> str | None:  # type: ignore[override]
        """That of the last agent."""
        return self.module_list[-1].target_type

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Those of all agents."""
        for each in dict.fromkeys(cls.pipeline):
            each.add_args(parser)

    @classmethod
    def from_args(cls, args: Namespace | None = None, **more: Any) -> Self:
        """Make all agents."""
        if not cls.pipeline:
            raise RuntimeError(f"{cls.__name__} has no pipeline; set it to a list of agent classes")
        return cls([each.from_args(args) for each in cls.pipeline])

    def build_states(self) -> Any:
        """Those of all agents."""
        return [each.build_states() for each in self.module_list]

    def reset(self) -> None:
        """Reset all agents."""
        for each in self.module_list:
            each.reset()

    def to(self, device: str, *args: Any, **options: Any) -> None:
        """Move all models."""
        for each in self.module_list:
            each.to(device, *args, **options)

    def push(
        self, source_segment: Segment, states: Any = None, upstream_states: Any = None
    ) -> None:
        """Through all agents but the last, which is only pushed."""
        held = states if states is not None else [None] * len(self.module_list)
        above: list[AgentStates] = list(upstream_states or [])
        segment = source_segment
        for agent, own in zip(self.module_list[:-1], held, strict=False):
            segment = agent.pushpop(segment, own, list(above))
            above.append(agent.states if own is None else own)
        self.module_list[-1].push(segment, held[-1], list(above))

    def pop(self, states: Any = None) -> Segment:
        """What the last agent does."""
        return self.module_list[-1].pop(states[-1] if states is not None else None)

    def __str__(self) -> str:
        inside = " -> ".join(map(str, self.module_list))
        return f"{type(self).__name__}({inside})"


class TreeAgentPipeline(AgentPipeline):
    """Several agents may read what one writes. Set `pipeline = {First: [A, B], A: [], B: []}`.

    `--output-index` chooses the leaf whose target counts.
    """

    def __init__(
        self,
        module_dict: dict[GenericAgent, list[GenericAgent]],
        args: Namespace | None = None,
    ) -> None:
        self.children = module_dict
        fed = [child for children in module_dict.values() for child in children]
        roots = [agent for agent in module_dict if agent not in fed]
        if len(roots) != 1 or len(set(map(id, fed))) != len(fed):
            raise RuntimeError("a tree of agents has one root, and nothing in it feeds itself")
        self.output_index = getattr(args, "output_index", None) or 0
        super().__init__(self._ordered(roots[0]))
        if len(self.module_list) != len(module_dict):
            raise RuntimeError("a tree of agents has one root, and nothing in it feeds itself")

    def _ordered(self, root: GenericAgent) -> list[GenericAgent]:
        found = [root]
        for child in self.children.get(root, []):
            found += self._ordered(child)
        return found

    def _check(self, joints: list[tuple[GenericAgent, GenericAgent]]) -> None:
        super()._check([(a, child) for a, below in self.children.items() for child in below])

    @property
    def leaves(self) -> list[GenericAgent]:
        """The agents that feed no other, in order."""
        return [agent for agent in self.module_list if not self.children.get(agent)]

    @property
    def target_type(self) -> str | None:  # type: ignore[override]
        """That of the leaf that counts."""
        return self.leaves[self.output_index].target_type

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Those of all agents, and `--output-index`."""
        super().add_args(parser)
        parser.add_argument("--output-index", type=int, default=0, help="the leaf that counts")

    @classmethod
    def from_args(cls, args: Namespace | None = None, **more: Any) -> Self:
        """Make all agents."""
        made = {each: each.from_args(args) for each in cls.pipeline}
        return cls({made[a]: [made[c] for c in below] for a, below in cls.pipeline.items()}, args)

    def push(
        self, source_segment: Segment, states: Any = None, upstream_states: Any = None
    ) -> None:
        """Down to the leaves, which are only pushed."""
        self._push(self.module_list[0], source_segment, list(upstream_states or []))

    def _push(self, agent: GenericAgent, segment: Segment, above: list[AgentStates]) -> None:
        below = self.children.get(agent, [])
        if not below:
            agent.push(segment, None, above)
            return
        made = agent.pushpop(segment, None, above)
        for child in below:
            self._push(child, made, [*above, agent.states])

    def pop(self, states: Any = None) -> Segment:
        """What the leaf that counts does; the others are asked too, as they may feed themselves."""
        popped = [leaf.pop() for leaf in self.leaves]
        return popped[self.output_index] if popped else EmptySegment()


def _kind(name: str | None) -> str | None:
    return None if name is None else name.lower()
