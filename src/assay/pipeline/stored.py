# SPDX-License-Identifier: Apache-2.0
"""Examples as a run folder keeps them: one JSON object per line of `examples.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from assay.core.batch import Batch
from assay.core.errors import InputError
from assay.core.text import TextLists, Texts

DAMAGED = "the run folder is damaged or was changed; score again with --save"


class StoredExample(msgspec.Struct, frozen=True, omit_defaults=True):
    """One example: what was predicted, what is right, and what it can be grouped by."""

    id: str
    prediction: Any
    gold: Any
    slices: Mapping[str, str] = {}
    cluster: str | None = None
    missing: bool = False


_encoder = msgspec.json.Encoder(enc_hook=lambda value: _as_data(value))
_decoder = msgspec.json.Decoder(StoredExample)


def stored(batch: Batch, cluster: str | None = None) -> Iterator[StoredExample]:
    """The examples of a batch. A list of one text is stored as that text."""
    columns = {name: list(column) for name, column in batch.columns.items()}
    missing = batch.missing.tolist() if batch.missing is not None else None
    sides = zip(_values(batch.predictions), _values(batch.gold), strict=True)
    for i, (prediction, gold) in enumerate(sides):
        yield StoredExample(
            batch.id_of(i),
            prediction,
            gold,
            {name: column[i] for name, column in columns.items()},
            columns[cluster][i] if cluster is not None else None,
            missing is not None and missing[i],
        )


def encode_lines(values: Iterable[Any]) -> bytes:
    """Values of any kind that can be stored, one line each."""
    return _encoder.encode_lines(values)


def encode(examples: Iterable[StoredExample]) -> bytes:
    """Lines for `examples.jsonl`."""
    return b"".join(encoded(example, example) + b"\n" for example in examples)


def encoded(value: Any, example: StoredExample) -> bytes:
    """What is stored of an example, as JSON. Text from memory may be none that a file can hold."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise InputError(
            f"example {example.id!a} holds U+{code:04X}, half of a surrogate pair, which no file "
            "can hold",
            hint="replace it, or score without saving",
        ) from None


def unreadable(path: Path, error: OSError) -> InputError:
    """What to say of a file of a run that the system does not let us read."""
    denied = isinstance(error, PermissionError)
    return InputError(
        f"cannot be read ({error.strerror or error})",
        path=path,
        hint="check its owner and mode (ls -l)" if denied else DAMAGED,
    )


def read_examples(path: Path, n: int) -> Iterator[StoredExample]:
    """The `n` examples of a run folder, in order."""
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield _decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise InputError(str(error), path=path, line=number, hint=DAMAGED) from None
    except OSError as error:
        raise unreadable(path, error) from None
    if number != n:
        raise InputError(f"holds {number:,} examples, not {n:,}", path=path, hint=DAMAGED)


def _values(column: Sequence[Any]) -> Iterator[Any]:
    if isinstance(column, TextLists):
        texts = list(column.values)
        bounds = column.splits.tolist()
        for start, stop in pairwise(bounds):
            yield texts[start] if stop - start == 1 else texts[start:stop]
    else:
        yield from column


def _as_data(value: Any) -> Any:
    if isinstance(value, (Texts, TextLists)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise NotImplementedError(f"cannot store a {type(value).__name__}")
