# SPDX-License-Identifier: Apache-2.0
"""What a run was asked to do, in a form that can be sent to another process."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from assay.core.errors import InputError, UsageError
from assay.tasks.simul.live.agents.importable import make_importable
from assay.tasks.simul.live.corpus import BLOCK_MS, RATE, Corpus, Kind, load_corpus

if TYPE_CHECKING:
    from assay.tasks.simul.settings import Settings


@dataclass(frozen=True)
class Data:
    """Which files to translate."""

    src_file: str | None
    tgt_file: str | None
    kind: Kind = "text"
    tgt_file_type: Literal["text", "json"] | None = None
    rate: int = RATE
    block_ms: int = BLOCK_MS
    old: bool = False
    exact: bool = False

    def load(self) -> Corpus:
        """Read them."""
        return load_corpus(
            self.src_file,
            self.tgt_file,
            kind=self.kind,
            tgt_file_type=self.tgt_file_type or _type_of(self.tgt_file),
            rate=self.rate,
            block_ms=self.block_ms,
            old=self.old,
            exact=self.exact,
        )


def _type_of(path: str | None) -> Literal["text", "json"]:
    """A manifest begins with a brace; anything else is lines."""
    try:
        with open(path or "", "rb") as file:
            return "json" if file.read(4096).lstrip()[:1] == b"{" else "text"
    except OSError:
        return "json"


@dataclass(frozen=True)
class Server:
    """Where a server is."""

    host: str
    port: int
    token: str | None = None
    session: str | None = None
    retry_seconds: float = 30.0
    kind: Kind = "text"
    rate: int = RATE


@dataclass(frozen=True)
class Choice:
    """Which agent, with which words of the command line for it.

    `common` are values of our own options that an agent may ask for under the same names.
    """

    name: str | None = None
    file: str | None = None
    class_name: str | None = None
    remote: tuple[str, int] | None = None
    words: tuple[str, ...] = ()
    common: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = None

    def of_system(self, folder: str, config: str) -> Choice:
        """The choice that a folder of SimulEval makes: `agent_class: a.b.C`, and options.

        Words of the command line count more than the file.
        """
        from assay.core.document import Intake
        from assay.tasks.simul.simuleval import read_config

        path = Path(folder) / config
        found = read_config(path, Intake())
        name = found.pop("agent_class", None)
        if name is None:
            hint = "write agent_class: module.Class"
            raise InputError("has no agent_class", path=path, hint=hint)
        plain: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None}
        given = {k.replace("-", "_"): plain.get(v.lower(), v) for k, v in found.items()}
        return replace(self, class_name=name, folder=folder, common={**self.common, **given})

    def load(self) -> type:
        """The agent class."""
        from assay.tasks.simul.live.agents.registry import agent_by_name, agent_in_file

        if self.file is not None:
            return agent_in_file(self.file, self.class_name)
        if self.name is not None:
            return agent_by_name(self.name)
        if self.class_name is not None:
            return _class_named(self.class_name, self.folder)
        raise UsageError("which agent? name one with --agent-type, or a file with --agent")

    @property
    def is_made(self) -> bool:
        """Whether there is an agent to run here, one that is not a service."""
        return bool(self.name or self.file or self.class_name)

    @property
    def is_of_simuleval(self) -> bool:
        """Whether the agent was written for SimulEval 1.1, or is a service of it."""
        return self.remote is not None or (self.is_made and hasattr(self.load(), "pushpop"))

    def types(self) -> Types:
        """What the agent says that it reads and writes."""
        if self.remote is not None:
            from assay.tasks.simul.live.remote import types_of_service

            return types_of_service(*self.remote)
        return types_of(self.load()) if self.is_made else Types()

    def arguments(self, found: type) -> Namespace:
        """The agent's own options, and ours under their names."""
        from assay.tasks.simul.live.options import FLAGS
        from assay.tasks.simul.live.words import agent_arguments

        return agent_arguments(found, self.words, self.common, FLAGS)


class Types(NamedTuple):
    """What an agent reads and what it writes; None where it does not say."""

    source: Kind | None = None
    target: Kind | None = None

    @classmethod
    def named(cls, source: Any, target: Any) -> Types:
        """From what stands in an agent, where it is one of the two kinds."""
        return cls(_kind(source), _kind(target))


def _kind(name: Any) -> Kind | None:
    found = name.lower() if isinstance(name, str) else None
    return found if found in ("text", "speech") else None  # type: ignore[return-value]


def types_of(found: type) -> Types:
    """The types of an agent class: of a pipeline those of its first and its last agent."""
    line: Any = getattr(found, "pipeline", None)
    if isinstance(line, Mapping) and line:
        below = {child for children in line.values() for child in children}
        ends = [each for each in line if not line[each]]
        roots = [each for each in line if each not in below]
        line = [*roots[:1], *ends[:1]]
    if isinstance(line, Sequence) and line:
        return Types(types_of(line[0]).source, types_of(line[-1]).target)
    source = getattr(found, "source_type", None) or getattr(found, "data_type", None)
    return Types.named(source, getattr(found, "target_type", None))


def _class_named(dotted: str, folder: str | None) -> type:
    import importlib

    from assay.tasks.simul.live.shims import installed_shims

    installed_shims()
    make_importable(folder or ".")
    module, _, name = dotted.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise UsageError(f"there is no class {dotted}; check --agent-class") from None
    if not isinstance(found, type):
        raise UsageError(f"{dotted} is not a class; check --agent-class")
    return found


def options_of(found: type) -> list[tuple[str, str]]:
    """The options that an agent declares, each with its help."""
    parser = argparse.ArgumentParser(add_help=False)
    found.add_args(parser)  # type: ignore[attr-defined]  # asked of agents only
    return [(a.option_strings[0], a.help or "") for a in parser._actions if a.option_strings]


@dataclass(frozen=True)
class Plan:
    """A whole run. `shard` is (i, n), i from 1.

    `languages` is a file with the target language of each sentence. `measures` are the metrics that
    were asked for by name.
    """

    choice: Choice
    data: Data | None = None
    server: Server | None = None
    output: str | None = None
    start: int = 0
    end: int | None = None
    shard: tuple[int, int] | None = None
    threads: int = 1
    jobs: int = 1
    step_seconds: float = 300.0
    max_steps: int = 100_000
    segment_ms: int = 1
    tokenizer: str = "13a"
    resume: bool = False
    reset: bool = False
    scoring: bool = True
    target: Kind = "text"
    languages: str | None = None
    measures: Settings | None = None

    def ids(self, count: int) -> list[int]:
        """The sentences of this run, in order; `end` counts."""
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise UsageError("--start-idx and --end-idx must be 0 or more, in this order")
        last = count - 1 if self.end is None else min(self.end, count - 1)
        chosen = range(self.start, last + 1)
        if not chosen:
            raise UsageError(
                f"there is no sentence from {self.start} on; they are 0 to {count - 1}"
            )
        if self.shard is None:
            return list(chosen)
        part, parts = self.shard
        return [i for i in chosen if i % parts == part - 1]


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """`2/8` is the second of eight parts.

    >>> parse_shard("2/8")
    (2, 8)
    """
    if text is None:
        return None
    part, slash, parts = text.partition("/")
    if slash and part.strip().isdecimal() and parts.strip().isdecimal():
        i, n = int(part), int(parts)
        if 1 <= i <= n:
            return i, n
    raise UsageError(f"--shard {text} is not a part; write 1/4 for the first of four")


def split_words(words: Sequence[str], marker: str = "--model-args") -> tuple[str, ...]:
    """The agent's words without the place-holder that documents print before them."""
    return tuple(word for word in words if word != marker)
