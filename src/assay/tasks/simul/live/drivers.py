# SPDX-License-Identifier: Apache-2.0
"""One sentence through one agent, for each kind of agent there is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from assay.core.errors import AgentError, UsageError
from assay.tasks.simul.live.corpus import END
from assay.tasks.simul.live.links import Link

IDLE_LIMIT = 1_000
"""Reads after the end of the source that an agent may make before it is taken to hang."""


class Driver(ABC):
    """Runs an agent."""

    @abstractmethod
    def translate(self, index: int, link: Link) -> None:
        """One sentence from its beginning to its end mark."""

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """No more sentences."""


class Steps:
    """Counts what an agent does in a sentence, so that one that never ends is noticed."""

    def __init__(self, index: int, limit: int) -> None:
        self.index = index
        self.limit = limit
        self.done = 0
        self.idle = 0

    def step(self) -> None:
        """One more."""
        self.done += 1
        if self.done > self.limit:
            raise AgentError(
                f"the agent has made {self.limit:,} steps in sentence {self.index} without an end; "
                "see --max-steps"
            )

    def read_at_end(self) -> None:
        """A read that cannot bring anything."""
        self.idle += 1
        if self.idle > IDLE_LIMIT:
            raise AgentError(
                f"the agent keeps reading after the end of sentence {self.index}; it has to send "
                f"{END}"
            )


class NativeDriver(Driver):
    """Agents with `policy` and `{key, value}` actions."""

    def __init__(self, agent: Any, limit: int) -> None:
        self.agent = agent
        self.limit = limit

    def translate(self, index: int, link: Link) -> None:
        """Ask the policy until the end mark."""
        agent = self.agent
        agent.reset()
        states = agent.init_states()
        steps = Steps(index, self.limit)
        while True:
            steps.step()
            key, value = _action(agent.policy(states), index)
            if key:
                link.send(index, value)
                if value.split()[-1:] == [END]:
                    return
                continue
            new = link.get(index, value)
            if isinstance(new["segment"], str) and new["segment"] == END:
                steps.read_at_end()
            changed = agent.update_states(states, new)
            states = states if changed is None else changed
            if self._is_over(states, new):
                link.send(index, END)
                return

    def _is_over(self, states: Any, new: dict[str, Any]) -> bool:
        """What `finish_eval` says. The old program never asked, so that an agent may lack it."""
        asked = getattr(self.agent, "finish_eval", None)
        try:
            return asked is not None and asked(states, new) is True
        except NotImplementedError:
            return False


def _action(action: Any, index: int) -> tuple[bool, Any]:
    """Whether to send, and the value."""
    try:
        key, value = action["key"], action.get("value")
    except (TypeError, KeyError, AttributeError):
        raise AgentError(
            f"the policy gave {_short(action)} in sentence {index}; "
            'it has to give {"key": GET or SEND, "value": ...}'
        ) from None
    if key in (0, "GET"):
        if value is not None and not hasattr(value, "get"):
            raise AgentError(
                f'a GET has the value {_short(value)}; give None or {{"segment_size": ms}}'
            )
        return False, value
    if key in (1, "SEND"):
        if not isinstance(value, str):
            raise AgentError(f"a SEND has the value {_short(value)}; give text")
        return True, value
    raise AgentError(f"the policy gave the key {_short(key)}; it has to be GET or SEND")


class SegmentDriver(Driver):
    """Agents of SimulEval 1.1: segments go in by `pushpop` and come out.

    After the source is over the agent is called with empty segments until it finishes. One that
    reads then has nothing more to say: at once where the source is speech, after a while where it
    is text. `languages` are the target languages of the sentences, which segments carry.
    """

    def __init__(
        self, agent: Any, limit: int, segment_ms: int = 1, languages: Sequence[str] = ()
    ) -> None:
        self.agent = agent
        self.limit = limit
        self.segment_ms = segment_ms
        self.languages = languages
        self.kinds = self.segments()

    def segments(self) -> Any:
        """The module of segments that the agent understands."""
        from assay.tasks.simul.live.shims import installed_shims

        return installed_shims().segments()

    def start(self) -> None:
        """A sentence begins."""
        self.agent.reset()

    def exchange(self, segment: Any) -> Any:
        """A segment goes in and one comes out."""
        return self.agent.pushpop(segment)

    def translate(self, index: int, link: Link) -> None:
        """Segment by segment."""
        self.start()
        steps, over, idle = Steps(index, self.limit), False, 0
        while True:
            steps.step()
            segment = self.kinds.EmptySegment(finished=True) if over else self._next(index, link)
            segment.tgt_lang = self.languages[index] if self.languages else None
            over = segment.finished
            found = self.exchange(segment)
            _deliver(found, index, link)
            if found.finished:
                break
            idle = idle + 1 if segment.is_empty and found.is_empty else 0
            if over and found.is_empty and (link.kind == "speech" or idle >= IDLE_LIMIT):
                break
        link.send(index, END)

    def _next(self, index: int, link: Link) -> Any:
        value = {"segment_size": self.segment_ms} if link.kind == "speech" else None
        new = link.get(index, value)
        content = new["segment"]
        if isinstance(content, str) and content == END and new.get("finished") is not False:
            return self.kinds.EmptySegment(finished=True)
        finished = bool(new.get("finished", False))
        if link.kind == "text":
            return self.kinds.TextSegment(
                index=new["segment_id"], content=content, finished=finished
            )
        return self.kinds.SpeechSegment(
            index=new["segment_id"],
            content=[sample / 32768 for sample in content],
            sample_rate=link.rate,
            finished=finished,
        )


def _deliver(segment: Any, index: int, link: Link) -> None:
    """What the agent wrote: words, or audio at the rate of the source unless it says another."""
    content = segment.content
    if segment.is_empty:
        return
    if not hasattr(content, "__len__"):
        raise AgentError(f"the agent wrote {_short(content)}; write text, or samples of audio")
    if not len(content):
        return
    if isinstance(content, str):
        link.send(index, content)
        return
    rate = getattr(segment, "sample_rate", 0)
    link.speak(index, content, rate if isinstance(rate, int) and rate > 0 else link.rate)


class MiddleDriver(Driver):
    """Agents of SimulEval 1.0: `policy` says read or write, `predict` what."""

    def __init__(self, agent: Any, limit: int, args: Namespace) -> None:
        self.agent = agent
        self.limit = limit
        self.args = args

    def translate(self, index: int, link: Link) -> None:
        """Ask the policy until the end mark."""
        agent = self.agent
        states = agent.build_states(self.args, None, index)
        steps = Steps(index, self.limit)
        while not states.finish_hypo():
            steps.step()
            action = agent.policy(states)
            if action == "read_action":
                self._read(index, link, states, steps)
            elif action == "write_action":
                self._write(index, link, states)
            else:
                raise AgentError(
                    f"the policy gave {_short(action)}; it has to be READ_ACTION or WRITE_ACTION"
                )

    def _read(self, index: int, link: Link, states: Any, steps: Steps) -> None:
        if states.finish_read():
            steps.read_at_end()
            return
        size = getattr(self.agent, "speech_segment_size", 10)
        new = link.get(index, {"segment_size": size} if link.kind == "speech" else None)
        segment = new["segment"]
        if isinstance(segment, str) and segment == END:
            states.read_all = True
        else:
            states.segments.source.append(segment)
            for unit in self.agent.segment_to_units(segment, states):
                states.units.source.append(unit)  # which agents override, to hold tensors
            if link.kind == "speech" and new.get("finished"):
                states.read_all = True
        self.agent.update_states_read(states)

    def _write(self, index: int, link: Link, states: Any) -> None:
        unit = self.agent.predict(states)
        states.units.target.append(unit)
        states.unit_queue.target.append(unit)
        self.agent.update_states_write(states)
        found = self.agent.units_to_segment(states.unit_queue.target, states)
        if found is None:
            return
        for segment in found if isinstance(found, list) else [found]:
            states.segments.target.append(segment)
            link.send(index, segment)
            if segment == END:
                states.wrote_all = True


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:60] + "..."


def driver_for(
    found: type,
    args: Namespace,
    *,
    limit: int,
    segment_ms: int = 1,
    languages: Sequence[str] = (),
) -> Callable[[], Driver]:
    """What makes a driver with an agent of its own, for whatever kind of agent the class is."""
    if hasattr(found, "pushpop"):
        return lambda: SegmentDriver(_placed(found, args), limit, segment_ms, languages)
    if hasattr(found, "predict") and hasattr(found, "units_to_segment"):
        return lambda: MiddleDriver(found(args), limit, args)
    wanted = ("policy", "init_states", "update_states", "reset")
    lacking = [name for name in wanted if not callable(getattr(found, name, None))]
    if lacking:
        raise UsageError(
            f"{found.__name__} is not an agent: it lacks {', '.join(lacking)}; derive it from Agent"
        )
    return lambda: NativeDriver(found(args), limit)


def _placed(found: Any, args: Namespace) -> Any:
    """An agent of SimulEval 1.1, on the device that was asked for."""
    agent = found.from_args(args)
    if hasattr(agent, "to"):
        half = getattr(args, "fp16", False) or getattr(args, "dtype", None) == "fp16"
        agent.to(getattr(args, "device", None) or "cpu", fp16=bool(half))
    return agent
