# SPDX-License-Identifier: Apache-2.0
"""What is to be translated: sentences of words or of audio, each with its reference."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.core.document import Intake
from assay.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from assay.tasks.simul.live.wav import Samples

Kind = Literal["text", "speech"]
Position = int | float
"""How much has been read: words, or milliseconds."""

END = "</s>"
"""The end mark, of the source and of a translation."""

RATE = 16_000
BLOCK_MS = 10


@dataclass(frozen=True, slots=True)
class Audio:
    """One audio file; `length_ms` is how much of it counts as the source."""

    path: Path
    length_ms: Position
    raw: bool = False

    def load(self) -> Samples:
        """The samples, read now."""
        from assay.tasks.simul.live.wav import samples

        return samples(self.path, raw=self.raw)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One source with its reference. Text has `words`, speech has `audio`."""

    name: str
    reference: str
    words: tuple[str, ...] = ()
    audio: Audio | None = None

    @property
    def length(self) -> Position:
        """The length of the source: words (without the end mark), or milliseconds."""
        return len(self.words) if self.audio is None else self.audio.length_ms

    @property
    def source(self) -> str:
        """The source as a log shows it."""
        return " ".join(self.words) if self.audio is None else str(self.audio.path)


@dataclass(frozen=True)
class Corpus:
    """Sentences in order. `notes` are what a user should know about how files were read."""

    kind: Kind
    sentences: Sequence[Sentence]
    rate: int = RATE
    block_ms: int = BLOCK_MS
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sentences)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same sources and references, and for no others."""
        digest = hashlib.sha256(f"{self.kind} {self.rate} {self.block_ms}".encode())
        for each in self.sentences:
            digest.update(json.dumps([each.source, each.length, each.reference]).encode())
        return digest.hexdigest()[:16]


def load_corpus(
    src_file: str | None,
    tgt_file: str | None,
    *,
    kind: Kind = "text",
    tgt_file_type: Literal["text", "json"] = "json",
    rate: int = RATE,
    block_ms: int = BLOCK_MS,
    old: bool = False,
    exact: bool = False,
) -> Corpus:
    """Read the sentences of a run.

    `kind="text"`: two files of lines. `kind="speech"`: a list of audio files and a file of
    references, or one JSON manifest (`tgt_file_type="json"`). `old` keeps to what fairseq's server
    did with audio: sample rates are not looked at, files may be missing until they are read. Audio
    is as long as its whole milliseconds, as it was there; with `exact` to the last sample.
    """
    if tgt_file is None:
        raise UsageError("no references; name them with --tgt-file")
    if kind == "text":
        if src_file is None:
            raise UsageError("no source; name a file of sentences with --src-file")
        return _text(src_file, tgt_file)
    if rate < 1 or block_ms < 1:
        raise UsageError("--sample-rate and --segment-size must be above 0")
    notes: list[str] = []
    if tgt_file_type == "json":
        if src_file is not None:
            notes.append(f"--src-file {src_file} is not used: {tgt_file} names the audio files")
        found = _manifest(tgt_file, old=old)
    else:
        found = _list(src_file, tgt_file, notes)
    sentences = [_speech(*each, rate=rate, old=old, exact=exact, notes=notes) for each in found]
    return Corpus("speech", _not_empty(sentences, tgt_file), rate, block_ms, notes)


def _text(src_file: str, tgt_file: str) -> Corpus:
    sources, references = lines(src_file), lines(tgt_file)
    if len(sources) != len(references):
        raise InputError(
            f"has {len(sources):,} lines and {tgt_file} has {len(references):,}",
            path=src_file,
            hint="each sentence needs one line in both files",
        )
    sentences = [
        Sentence(str(number), reference.strip(), tuple(source.split()))
        for number, (source, reference) in enumerate(zip(sources, references, strict=True))
    ]
    return Corpus("text", _not_empty(sentences, src_file))


def _not_empty(sentences: list[Sentence], path: str) -> list[Sentence]:
    if not sentences:
        raise InputError("holds no sentences", path=path, hint="one sentence per line")
    return sentences


def lines(path: str) -> list[str]:
    """The lines of a file."""
    from assay.read import open_text

    return [line for texts in open_text(path, role="gold", intake=Intake()) for line in texts]


Found = tuple[str, str, str, Position | None, Path]
"""Name, path as written, reference, length in ms if given, and the file that says so."""


def _list(src_file: str | None, tgt_file: str, notes: list[str]) -> list[Found]:
    if src_file is None:
        raise UsageError("no audio; name a list of WAV files with --src-file")
    sources, references = lines(src_file), lines(tgt_file)
    if _names_audio(references, Path(tgt_file)) and not _names_audio(sources, Path(src_file)):
        notes.append(f"{tgt_file} is the list of audio files and {src_file} has the references")
        src_file, tgt_file, sources, references = tgt_file, src_file, references, sources
    if len(sources) != len(references):
        raise InputError(
            f"names {len(sources):,} audio files and {tgt_file} has {len(references):,} references",
            path=src_file,
            hint="each audio file needs one line in both files",
        )
    return [
        (str(number), source.strip(), reference.strip(), None, Path(src_file))
        for number, (source, reference) in enumerate(zip(sources, references, strict=True))
    ]


def _names_audio(lines: list[str], where: Path) -> bool:
    """Whether the lines name audio files that exist."""
    return bool(lines) and all(
        line.strip().lower().endswith(".wav") and _placed(line.strip(), where).exists()
        for line in lines[:20]
    )


def _manifest(path: str, *, old: bool) -> list[Found]:
    import msgspec

    from assay.read.malformed import malformed
    from assay.read.twice import check

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    try:
        given = msgspec.json.decode(data)
    except msgspec.DecodeError:
        hint = '{"utts": {"ID": {"input": {"path": ...}, "output": {"text": ...}}}}'
        raise malformed(data, path, hint) from None
    utterances = given.get("utts") if isinstance(given, dict) else None
    if not isinstance(utterances, dict):
        raise InputError(
            'has no object "utts"',
            path=path,
            hint="give a manifest with --tgt-file-type json, or lines with --tgt-file-type text",
        )
    if not old:  # of an utterance that is there twice the old server kept the last
        check(data, given, path, None)
    return [_utterance(name, about, path) for name, about in utterances.items()]


def _utterance(name: str, about: Any, path: str) -> Found:
    try:
        audio, length = about["input"]["path"], about["input"].get("length_ms")
        reference = about["output"]["text"]
    except (KeyError, TypeError, AttributeError):
        audio = reference = length = None
    if not isinstance(audio, str) or not isinstance(reference, str):
        raise InputError(
            f"utterance '{name}' has no input.path or no output.text", path=path, hint="give both"
        )
    if length is not None and (
        isinstance(length, bool) or not isinstance(length, (int, float)) or length < 0
    ):
        raise InputError(
            f"utterance '{name}' has length_ms {length!r}, not milliseconds", path=path
        )
    return name, audio.strip(), reference.strip(), length, Path(path)


def _placed(name: str, where: Path) -> Path:
    """A path as seen from here, or else from the folder of the file that names it."""
    path = Path(name)
    beside = where.parent / path
    return beside if not path.is_absolute() and not path.exists() and beside.exists() else path


def _speech(
    name: str,
    written: str,
    reference: str,
    length: Position | None,
    where: Path,
    *,
    rate: int,
    old: bool,
    exact: bool,
    notes: list[str],
) -> Sentence:
    from assay.tasks.simul.live.wav import header

    path = _placed(written, where)
    if old and length is not None:
        return Sentence(name, reference, audio=Audio(path, length, raw=True))
    if not path.exists():
        raise InputError(
            f"names the audio file {written}, which does not exist", path=where, hint="check paths"
        )
    if not written.lower().endswith(".wav"):
        raise InputError(f"names {written}, which is not a .wav file", path=where)
    about = header(path)
    if about.lacking:
        notes.append(
            f"{written} ends early: of its {about.lacking + about.frames:,} samples "
            f"{about.frames:,} are there"
        )
    if old:
        return Sentence(name, reference, audio=Audio(path, about.frames * 1000 // rate, raw=True))
    if about.rate != rate:
        raise InputError(
            f"has a sample rate of {about.rate:,} Hz, not {rate:,}",
            path=path,
            hint="convert it, or give --sample-rate",
        )
    if length is not None and length > about.length_ms + 1:
        notes.append(
            f"'{name}' is said to last {length:g} ms and {written} has {about.length_ms:,} ms"
        )
    if length is None:
        length = about.exact_ms if exact else about.length_ms
    return Sentence(name, reference, audio=Audio(path, whole(length)))


def whole(value: Position) -> Position:
    """A number without a fraction as a whole one."""
    return int(value) if value == int(value) else value
