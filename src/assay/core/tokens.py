# SPDX-License-Identifier: Apache-2.0
"""From bytes of text to numbered tokens, without a Python object per token.

    Texts --lines--> bytes --spans--> where tokens start and end --numbered--> Tokens
    Texts --characters----------------------------------------------------->  Tokens

Numbers are exact: two tokens get the same one if, and only if, their bytes are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.ngrams import Counts, Keys, Tokens, blocks, borders, ranked
from assay.core.text import TextLists, Texts

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

SPACES = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
)
"""The code points at which `str.split` splits."""

_WIDE_SPACES = tuple(chr(c).encode() for c in SPACES if c >= 0x80)
_WIDE_LEADS = tuple(sorted({space[:1] for space in _WIDE_SPACES}))
# Which pairs of bytes behind such a first byte make a wide space; two bytes long, any second one.
_IS_WIDE = {lead: np.zeros((256, 256), dtype=bool) for lead in _WIDE_LEADS}
for _space in _WIDE_SPACES:
    _IS_WIDE[_space[:1]][_space[1], _space[2] if len(_space) > 2 else slice(None)] = True
_IS_SPACE = np.zeros(max(SPACES) + 2, dtype=bool)
_IS_SPACE[list(SPACES)] = True

_BLOCK_BYTES = 1 << 18
_BLOCK_EXAMPLES = 256
_EXACT = 7  # a token of up to 7 bytes is its own number, its length in the eighth
_HASHED = 64  # a longer one is known by a hash until compared; beyond this it is looked up
_LENGTH_AT = np.uint64(56)
_HASH_TAG = np.uint64(0xFE << 56)
_LONG_TAG = np.uint64(0xFF << 56)
_KEPT = np.array([(1 << 8 * k) - 1 for k in range(8)], dtype=np.uint64)
_MIX_HEAD = np.uint64(0x9E3779B97F4A7C15)
_MIX_TAIL = np.uint64(0xC2B2AE3D27D4EB4F)


def joined(first: Texts, second: Texts) -> Texts:
    """Both columns as one, so that their tokens get the same numbers."""
    a, b = first.compact(), second.compact()
    shift = len(a.data)
    return Texts(
        a.data + b.data,
        np.concatenate([a.starts, b.starts + shift]),
        np.concatenate([a.ends, b.ends + shift]),
    )


class TextBlock(NamedTuple):
    """Examples `start` to `stop`: predictions, then references, in one column of texts.

    With n predictions, the references of prediction i are texts `n + lists[i]` to
    `n + lists[i + 1]`.
    """

    start: int
    stop: int
    texts: Texts
    lists: Counts


def text_blocks(batch: Batch, *, lowercase: bool = False) -> Iterator[TextBlock]:
    """The texts of a batch, a cache-sized block at a time; a huge example is one of its own.

    >>> batch = Batch(["a", "b"], [["x", "y"], ["z"]])
    >>> [(list(block.texts), block.lists.tolist()) for block in text_blocks(batch)]
    [(['a', 'b', 'x', 'y', 'z'], [0, 2, 3])]
    """
    predictions, references = batch.texts(), batch.references()
    if lowercase:
        predictions = lowered(predictions)
        references = TextLists(lowered(references.values), references.splits)
    sizes = predictions.ends - predictions.starts
    gold = borders(references.values.ends - references.values.starts)
    sizes = sizes + np.diff(gold[references.splits])
    for start, stop in blocks(sizes, _BLOCK_BYTES, _BLOCK_EXAMPLES):
        of_block = references[start:stop]
        texts = joined(predictions[start:stop], of_block.values)
        yield TextBlock(start, stop, texts, of_block.splits)


def lowered(texts: Texts) -> Texts:
    """Each text in lower case, as `str.lower` has it."""
    packed = texts.compact()
    if packed.data.isascii():
        return Texts(packed.data.lower(), packed.starts, packed.ends)
    return Texts.of(text.lower() for text in packed)


def lines(texts: Texts, unfolded: Callable[[str], str] | None = None) -> bytes:
    r"""The texts as UTF-8 with a line feed after each, and nowhere else.

    A text that holds line feeds itself gets spaces for them, or is given to `unfolded` first.

    >>> lines(Texts.of(["one", "two\nthree"]))
    b'one\ntwo three\n'
    """
    packed = texts.compact()
    if packed.data.count(b"\n") == len(packed):
        return packed.data
    change = unfolded or (lambda text: text)
    return Texts.of(change(t).replace("\n", " ") if "\n" in t else t for t in packed).data


def plainly_spaced(data: bytes) -> bytes:
    """White space of all kinds as ASCII white space; no byte moves."""
    if data.isascii():
        return data
    view = np.frombuffer(data, dtype=np.uint8)
    found: list[Counts] = []
    for lead in _WIDE_LEADS:
        if lead in data:  # many other characters begin like a space, curly quotes among them
            at = np.flatnonzero(view == lead[0])
            # The last text ends with a line feed, so a character of two bytes has a third behind.
            at = at[_IS_WIDE[lead][view[at + 1], view[at + 2]]]
            found += [at + k for k in range(2 if lead < b"\xe0" else 3)]
    if not any(map(len, found)):
        return data
    plain = view.copy()
    plain[np.concatenate(found)] = ord(" ")
    return plain.tobytes()


def framed(data: bytes) -> tuple[bytes, Bytes]:
    """Lines with a line feed before the first and eight more behind the last.

    Every byte then has neighbours, and eight bytes can be read from any place.
    """
    data = b"\n" + data + b"\n" * 8
    return data, np.frombuffer(data, dtype=np.uint8)


def is_space(view: Bytes) -> Mask:
    """Which bytes are ASCII white space: 9 to 13 and 28 to 32."""
    nine, group = np.uint8(9), np.uint8(28)
    # Wrapping around below zero is meant.
    found: Mask = (view - nine <= 4) | (view - group <= 4)
    return found


def spans(view: Bytes, single: Mask | None = None) -> tuple[Counts, Counts]:
    """Where tokens start and end in framed lines: between white space, and around each `single`."""
    space = is_space(view)
    apart = space if single is None else space | single
    edge = apart[1:] | apart[:-1]
    solid = ~space
    return np.flatnonzero(edge & solid[1:]) + 1, np.flatnonzero(edge & solid[:-1]) + 1


def numbered(data: bytes, starts: Counts, ends: Counts, n_lines: int) -> Tokens:
    r"""The tokens of framed lines, numbered without gaps.

    >>> data, view = framed(b"to be or not to be\nnot\n")
    >>> tokens = numbered(data, *spans(view), n_lines=2)
    >>> tokens.ids.tolist(), tokens.splits.tolist()
    ([1, 0, 2, 3, 1, 0, 3], [0, 6, 7])
    """
    line_feeds = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)[: n_lines + 1]
    splits = np.searchsorted(starts, line_feeds)
    return Tokens(_numbers(data, starts, ends), splits)


def _numbers(data: bytes, starts: Counts, ends: Counts) -> Keys:
    if len(starts) == 0:
        return np.zeros(0, dtype=np.uint64)
    words = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
    lengths = ends - starts
    heads = words.take(starts)
    keys = heads & _KEPT.take(lengths, mode="clip")
    keys |= lengths.astype(np.uint64) << _LENGTH_AT
    wide = np.flatnonzero(lengths > _EXACT)
    if len(wide) == 0:
        return ranked(keys)[0]
    first, size = starts.take(wide), lengths.take(wide)
    head, tail = heads.take(wide), words.take(first + size - 8)
    middles = _middles(words, first, size)
    keys[wide] = _HASH_TAG | (_hashes(head, tail, size, middles) >> np.uint64(8))
    long = wide[size > _HASHED]
    if len(long):
        keys[long] = _LONG_TAG | _looked_up(data, starts[long], ends[long])
    numbers, n_numbers = ranked(keys)
    # A hash is a guess until the bytes are compared, each token with one that got its number.
    own = numbers.take(wide).view(np.int64)
    chosen = np.empty(n_numbers, dtype=np.int64)
    chosen[own] = np.arange(len(wide))
    other = chosen.take(own)
    same = head.take(other) == head
    same &= tail.take(other) == tail
    same &= size.take(other) == size
    for which, part in middles:
        parts = np.zeros(len(wide), dtype=np.uint64)
        parts[which] = part
        same[which] &= parts.take(other.take(which)) == part
    if not bool((same | (size > _HASHED)).all()):
        return _looked_up(data, starts, ends)
    return numbers


def _middles(words: Keys, first: Counts, size: Counts) -> list[tuple[Counts, Keys]]:
    """What lies between the first and the last eight bytes of each token, eight bytes at a time.

    Each step names the tokens that reach so far. Tokens too long to be hashed are left out.
    """
    steps: list[tuple[Counts, Keys]] = []
    which = np.flatnonzero((size > 16) & (size <= _HASHED))
    at = 8
    while len(which):
        steps.append((which, words.take(first.take(which) + at)))
        at += 8
        which = which[size.take(which) > at + 8]
    return steps


def _hashes(head: Keys, tail: Keys, size: Counts, middles: list[tuple[Counts, Keys]]) -> Keys:
    """A hash of all bytes of each token of 8 to `_HASHED` bytes."""
    mixed = mixed_in(head, size.view(np.uint64))
    for which, part in middles:
        mixed[which] = mixed_in(mixed.take(which), part)
    return mixed_in(mixed, tail)


def mixed_in(hashes: Keys, word: Keys) -> Keys:
    """Hashes that also depend on another word, and on the order in which words come."""
    mixed = hashes * _MIX_HEAD
    mixed ^= mixed >> np.uint64(32)
    mixed += word
    mixed *= _MIX_TAIL
    mixed ^= mixed >> np.uint64(29)
    return mixed


def _looked_up(data: bytes, starts: Counts, ends: Counts) -> Keys:
    """Numbers from a dictionary of the tokens themselves."""
    known: dict[bytes, int] = {}
    numbers = [
        known.setdefault(data[start:end], len(known))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return np.array(numbers, dtype=np.uint64)


def characters(texts: Texts, *, spaces: bool = False) -> Tokens:
    """Every character as a token, numbered by its code point; white space is left out or kept.

    >>> characters(Texts.of(["a b", "é"])).ids.tolist()
    [97, 98, 233]
    """
    packed = texts.compact()
    raw = np.frombuffer(packed.data, dtype=np.uint8)
    n = len(packed)
    if packed.data.isascii():
        points: NDArray[np.unsignedinteger] = raw
        edges = np.concatenate([packed.starts, [len(raw)]])
    else:
        text = packed.data.decode("utf-8", "surrogatepass")
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        # A character starts at every byte that does not continue one.
        starts = borders((raw & 0xC0) != 0x80)
        edges = np.concatenate([starts[packed.starts], [len(points)]])
    if spaces:
        keep = np.ones(len(points), dtype=bool)
        keep[edges[1:] - 1] = False  # the line feed behind each text
    else:
        keep = ~_IS_SPACE.take(points, mode="clip")
    splits = borders(keep)[edges] if n else np.zeros(1, dtype=np.int64)
    return Tokens(points[keep], splits)
