# SPDX-License-Identifier: Apache-2.0
"""The state of one evaluation: what has been read and written of each sentence, and when.

A session is used by the server (for all requests of one client) and in process. Every step is
appended to the event log before it is answered: what was acknowledged is on disk.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from assay.core.errors import AgentError, AssayError
from assay.tasks.simul.events import Event
from assay.tasks.simul.live.corpus import END, Corpus, Kind, Position, Sentence, whole
from assay.tasks.simul.live.voice import Speech, Voice

if TYPE_CHECKING:
    from assay.tasks.simul.events import Stream
    from assay.tasks.simul.live.wav import Samples

WORD_LIMIT = 100_000
"""Words that one sentence may get: an agent that never ends must not fill the memory."""


class OutOfStepError(AssayError):
    """A step came that is neither the next one nor a repetition of the last."""

    exit_code = 2


class TooLongError(AssayError):
    """A sentence got more words than any translation has."""

    exit_code = 2


class Log(Protocol):
    """What a session needs of an event log."""

    def open(
        self, id: str, *, source_length: float | None, reference: str | None, source: Any
    ) -> None: ...
    def step(self, id: str, event: Event) -> None: ...
    def close(self, id: str, *, at: float | None) -> None: ...


class Served(NamedTuple):
    """What a read gives: `segment` is a word, samples, or the end mark.

    `position` is where the source stands after it, `finished` that only the end mark is left.
    """

    segment_id: int
    segment: str | Samples
    position: Position
    finished: bool


@dataclass(slots=True)
class Exchange:
    """One sentence under way.

    `words` and `delays` go together; where output is spoken there are pieces of `speech` instead.
    `end` is where the end mark was sent; in the old rule it is a word like any other and stands
    among them. `before` and `was_read` say what the last step was, `last` what it was answered, in
    case the client asks again because the answer got lost.
    """

    sentence: Sentence
    began: float
    position: Position = 0
    words: list[str] = field(default_factory=list)
    delays: list[Position] = field(default_factory=list)
    end: Position | None = None
    steps: int = 0
    before: Position = 0
    was_read: bool = False
    last: Served | None = None
    answered: float = 0.0
    samples: Samples | None = None
    speech: Speech | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was sent, not even an end mark."""
        return not self.delays and self.end is None


class Session:
    """All sentences of one client.

    `old` is the rule of fairseq's server: an end mark closes nothing, and negative ids count from
    the end of the corpus. `strays` are ids without a sentence that got words under that rule.
    `target` says whether output is written or spoken; `voice` keeps what was said.
    """

    def __init__(
        self,
        corpus: Corpus,
        log: Log | None = None,
        *,
        old: bool = False,
        target: Kind = "text",
        voice: Voice | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.corpus = corpus
        self.log = log
        self.old = old
        self.target = target
        self.voice = voice
        self.exchanges: dict[int, Exchange] = {}
        self.strays: set[int] = set()
        self._clock = clock

    def read(
        self,
        index: int,
        size_ms: int | None = None,
        *,
        step: int | None = None,
        exact: bool = False,
    ) -> Served:
        """Serve the next piece of a sentence and move on.

        `step` is the client's count of steps in this sentence: the last one again gets the last
        answer again. `exact` serves any number of milliseconds, not whole blocks.
        """
        exchange = self._exchange(index)
        if _is_repeated(exchange, step, reading=True):
            if exchange.last is None:  # the server was started again in between
                exchange.last = self._next(exchange, exchange.before, size_ms, exact)
            return exchange.last
        before = exchange.position
        served = self._next(exchange, before, size_ms, exact)
        self._log(index, exchange, before, (), read=served.position)
        exchange.before, exchange.position = before, served.position
        exchange.was_read, exchange.last = True, served
        return served

    def write(self, index: int, text: str, *, step: int | None = None) -> None:
        """Take words; the first end mark closes the sentence and what follows it is dropped."""
        words = text.split()
        if self.old and not -len(self.corpus) <= index < len(self.corpus):
            self.strays.update([index] if words else [])
            return
        exchange = self._exchange(index)
        if _is_repeated(exchange, step, reading=False):
            return
        if exchange.end is not None and not self.old:
            return
        closing = END in words and not self.old
        if closing:
            words = words[: words.index(END)]
        if len(exchange.words) + len(words) > WORD_LIMIT:
            raise TooLongError(
                f"sentence {index} has more than {WORD_LIMIT:,} words; does the agent ever end?"
            )
        if words and self.target == "speech":
            raise AgentError(f"the agent wrote text, {text[:40]!r}, and its target is speech")
        position = exchange.position
        self._log(index, exchange, position, words)
        exchange.words += words
        exchange.delays += [position] * len(words)
        exchange.was_read, exchange.last = False, None
        if closing:
            self._close(index, exchange)

    def speak(self, index: int, samples: Samples, rate: int) -> None:
        """Take audio; what comes after the end mark is dropped."""
        if self.target != "speech":
            raise AgentError(
                "the agent wrote speech, and its target is text; say --target-type speech"
            )
        exchange = self._exchange(index)
        if exchange.end is not None:
            return
        if exchange.speech is None:
            exchange.speech = Speech()
        duration = exchange.speech.add(samples, rate)
        position = exchange.position
        self._log(index, exchange, position, (), duration=duration, rate=rate)
        exchange.delays.append(position)
        exchange.was_read, exchange.last = False, None

    def _close(self, index: int, exchange: Exchange) -> None:
        """The end mark: what was said is kept before the log says that the sentence is done."""
        if exchange.speech is not None:
            if self.voice is not None:
                self.voice.save(index, exchange.speech, exchange.delays)
            exchange.speech = None
        exchange.end = exchange.position
        exchange.samples = None
        if self.log is not None:
            self.log.close(str(index), at=exchange.position)

    def forget(self, index: int) -> None:
        """Start one sentence anew, in the log too."""
        if self.exchanges.pop(index, None) is not None:
            self._exchange(index)

    def finished(self, index: int) -> bool:
        """Whether a sentence has had its end mark."""
        exchange = self.exchanges.get(index)
        if exchange is None:
            return False
        return exchange.end is not None or (self.old and END in exchange.words)

    def knows(self, index: int) -> bool:
        """Whether there is a sentence of this number."""
        return (-len(self.corpus) if self.old else 0) <= index < len(self.corpus)

    def restore(self, streams: Iterable[Stream]) -> int:
        """Take up what a log holds; the number of sentences it had begun."""
        count = 0
        for stream in streams:
            index = int(stream.id)
            exchange = Exchange(self.corpus.sentences[index], self._clock())
            for event in stream.events:
                exchange.words += event.emit
                pieces = len(event.emit) + (event.duration is not None)
                exchange.delays += [whole(event.at)] * pieces
                exchange.before, exchange.was_read = whole(event.at), event.read is not None
                exchange.position = whole(event.at if event.read is None else event.read)
                exchange.steps += 1
            if stream.finished and not self.old:
                exchange.end = whole(stream.end or 0)
            self.exchanges[index] = exchange
            count += 1
        return count

    def _exchange(self, index: int) -> Exchange:
        found = self.exchanges.get(index)
        if found is None:
            sentence = self.corpus.sentences[index]
            found = self.exchanges[index] = Exchange(sentence, self._clock())
            if self.log is not None and index >= 0:
                self.log.open(
                    str(index),
                    source_length=sentence.length,
                    reference=sentence.reference,
                    source=sentence.source,
                )
        return found

    def _log(
        self,
        index: int,
        exchange: Exchange,
        at: Position,
        words: list[str] | tuple[str, ...],
        *,
        read: Position | None = None,
        duration: float | None = None,
        rate: int | None = None,
    ) -> None:
        exchange.steps += 1
        if self.log is None or index < 0:
            return
        now = (self._clock() - exchange.began) * 1000
        event = Event(at, exchange.answered, now, words or (), 0, read, duration, rate)
        self.log.step(str(index), event)
        exchange.answered = now

    def _samples(self, exchange: Exchange) -> Samples:
        if exchange.samples is None:
            assert exchange.sentence.audio is not None
            exchange.samples = exchange.sentence.audio.load()
        return exchange.samples

    def _next(
        self, exchange: Exchange, position: Position, size_ms: int | None, exact: bool
    ) -> Served:
        """What comes at a position."""
        if exchange.sentence.audio is None:
            return _word(exchange.sentence, int(position))
        size = self.corpus.block_ms if size_ms is None else size_ms
        return (self._slice if exact else self._blocks)(exchange, position, size)

    def _blocks(self, exchange: Exchange, position: Position, size_ms: int) -> Served:
        """Whole blocks, as the 2020 protocol has it; the last may reach beyond the length."""
        length, block_ms = exchange.sentence.length, self.corpus.block_ms
        if position >= length:
            exchange.samples = None
            return Served(int(position / block_ms), END, position, True)
        blocks, first = size_ms // block_ms, int(position // block_ms)
        per_block = self.corpus.rate * block_ms // 1000
        found = self._samples(exchange)[first * per_block : (first + blocks) * per_block]
        after = min(length, position + blocks * block_ms)
        return Served(int(position / block_ms), found, after, after >= length)

    def _slice(self, exchange: Exchange, position: Position, size_ms: int) -> Served:
        """Any number of milliseconds, or what more the next sample needs; the number of the segment
        is where it ends."""
        length, rate = exchange.sentence.length, self.corpus.rate
        if position >= length:
            exchange.samples = None
            return Served(int(position), END, position, True)
        samples = self._samples(exchange)
        # Of a length in whole milliseconds the samples behind the last of them belong to it.
        end = (
            len(samples) if len(samples) * 1000 < (length + 1) * rate else _samples_of(length, rate)
        )
        first = round(position * rate / 1000)
        last = first + _samples_of(size_ms, rate)
        after = length if last >= end else min(length, whole(last * 1000 / rate))
        return Served(int(after), samples[first : min(last, end)], after, after >= length)


def _samples_of(ms: Position, rate: int) -> int:
    return math.ceil(ms * rate / 1000)


def _word(sentence: Sentence, position: int) -> Served:
    if position < len(sentence.words):
        last = position + 1 == len(sentence.words)
        return Served(position, sentence.words[position], position + 1, last)
    # The first end mark counts as read; all later ones stand behind it.
    return Served(position, END, len(sentence.words) + 1, True)


def _is_repeated(exchange: Exchange, step: int | None, *, reading: bool) -> bool:
    if step is None or step == exchange.steps:
        return False
    if step == exchange.steps - 1 and exchange.was_read == reading:
        return True
    raise OutOfStepError(f"step {step} came where step {exchange.steps} is next")
