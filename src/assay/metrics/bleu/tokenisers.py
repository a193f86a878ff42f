# SPDX-License-Identifier: Apache-2.0
"""How BLEU cuts a text into words. Each function here takes texts and gives numbered tokens.

`13a` and `none` work on bytes, `char` on code points. `zh` isolates Chinese characters, then goes
on as `13a` does. The others make a line of tokens from each line of text, one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.core.ngrams import Tokens
from assay.core.text import Texts
from assay.core.tokens import (
    characters,
    framed,
    lines,
    numbered,
    plainly_spaced,
    spans,
)

Tokeniser = Callable[[Texts], Tokens]

# What the tokenisers of sacrebleu that are not written here need: module, and how to get it.
_NEEDS = {
    "ja-mecab": ("MeCab", "sacrebleu[ja]"),
    "ko-mecab": ("mecab_ko", "sacrebleu[ko]"),
    "spm": ("sentencepiece", "sentencepiece"),
    "flores101": ("sentencepiece", "sentencepiece"),
    "flores200": ("sentencepiece", "sentencepiece"),
    "spBLEU-1K": ("sentencepiece", "sentencepiece"),
}

_RENAMED = {"spm": "flores101"}

_PLAIN, _MARK, _DOT, _DIGIT, _HYPHEN = range(5)


def _byte_classes() -> bytes:
    table = bytearray([_PLAIN] * 256)
    for c in b'!"#$%&()*+/:;<=>?@[\\]^_`{|}~':
        table[c] = _MARK  # always a token of its own; ' is not among them
    for c in b".,":
        table[c] = _DOT
    for c in b"0123456789":
        table[c] = _DIGIT
    table[ord("-")] = _HYPHEN
    return bytes(table)


_CLASSES = _byte_classes()

_ENTITIES = ((b"&quot;", b'"'), (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&gt;", b">"))

# What `zh` isolates: CJK ideographs, radicals, strokes, bopomofo and full-width forms. The range
# from U+2001 is far wider than Chinese, and the supplementary planes are missing; published
# scores are made with these, so they are kept.
_CHINESE = (
    "([\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31ef\u3200-\u4db5"
    "\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef])"
)


def tokeniser(name: str) -> Tokeniser:
    """The tokeniser of this name, or an error that says what there is or what to install."""
    own: dict[str, Tokeniser] = {
        "13a": _mteval,
        "none": _unsplit,
        "char": characters,
        "zh": _chinese,
        "intl": _international,
    }
    if name in own:
        return own[name]
    if name not in _NEEDS:
        raise unknown("tokeniser", name, [*own, *_NEEDS])
    module, package = _NEEDS[name]
    if find_spec(module) is None:
        raise UsageError(f"tokenize={name} needs {package}; run: pip install '{package}'")
    return lambda texts: _by_line(texts, _foreign(name))


def _mteval(texts: Texts) -> Tokens:
    """The rules of NIST's mteval-v13a."""
    data = lines(texts, _unhyphenated)
    if b"<" in data:
        data = data.replace(b"<skipped>", b"")
    if b"&" in data:
        for entity, character in _ENTITIES:
            data = data.replace(entity, character)
    return _punctuated(data, len(texts))


def _unhyphenated(text: str) -> str:
    """A text of several lines as one; a hyphen at the end of a line joins two halves of a word."""
    return text.rstrip().replace("<skipped>", "").replace("-\n", "")


def _chinese(texts: Texts) -> Tokens:
    whole = lines(texts).decode("utf-8", "surrogatepass")
    stripped = "\n".join(line.strip() for line in whole.split("\n"))
    apart = re.sub(_CHINESE, r" \1 ", stripped)
    return _punctuated(apart.encode("utf-8", "surrogatepass"), len(texts), bare_ends=True)


def _unsplit(texts: Texts) -> Tokens:
    data, view = framed(plainly_spaced(lines(texts)))
    return numbered(data, *spans(view), len(texts))


def _punctuated(data: bytes, n_lines: int, *, bare_ends: bool = False) -> Tokens:
    """Split at white space and around punctuation, except inside numbers.

    A full stop or comma is a token of its own unless a digit stands on either side, a hyphen is one
    behind a digit. With `bare_ends` the first and the last character of a line have no neighbour
    that could part them from a full stop: such an end counts as a digit.
    """
    data, view = framed(plainly_spaced(data))
    classes = np.frombuffer(data.translate(_CLASSES), dtype=np.uint8)
    dot, digit = classes == _DOT, classes == _DIGIT
    single = classes == _MARK
    single[1:] |= (classes[1:] == _HYPHEN) & digit[:-1]
    if bare_ends:
        digit |= view == 10
    single[1:-1] |= dot[1:-1] & ~(digit[:-2] & digit[2:])
    lasts = np.flatnonzero(dot[:-2] & dot[1:-1] & digit[2:]) + 1
    if len(lasts):
        # "a..5" is "a . .5", but "a...5" is "a . . . 5": the rule takes a run two by two from the
        # character before it, so its length decides whether the last one stays at the number.
        before = np.maximum.accumulate(np.where(dot, 0, np.arange(len(dot))))[lasts]
        is_odd = (lasts - before) % 2 == 1
        single[lasts[digit[before] == is_odd]] = False
    return numbered(data, *spans(view, single), n_lines)


def _international(texts: Texts) -> Tokens:
    """Split around punctuation that is not inside a number, and around symbols, in any script."""
    return _by_line(texts, _international_line)


def _international_line(text: str) -> str:
    pieces = text.split()
    if not pieces:
        return ""
    # The rules look at neighbours, and never past white space; at an end there is no neighbour.
    first = "" if not text[0].isspace() else " "
    if len(pieces) == 1:
        return _international_piece(first + pieces[0])
    inner = (_international_piece(f" {piece} ") for piece in pieces[1:-1])
    head, tail = f"{first}{pieces[0]} ", f" {pieces[-1]}"
    return " ".join([_international_piece(head), *inner, _international_piece(tail)])


@lru_cache(maxsize=1 << 16)
def _international_piece(piece: str) -> str:
    behind, before, symbol = _international_rules()
    piece = behind.sub(r"\1 \2 ", piece)
    piece = before.sub(r" \1 \2", piece)
    return str(symbol.sub(r" \1 ", piece))


@cache
def _international_rules() -> tuple[Any, Any, Any]:
    import regex  # comes with sacrebleu; knows the classes of Unicode

    return (
        regex.compile(r"(\P{N})(\p{P})"),
        regex.compile(r"(\p{P})(\P{N})"),
        regex.compile(r"(\p{S})"),
    )


def _by_line(texts: Texts, tokenise: Callable[[str], str]) -> Tokens:
    made = Texts.of(" ".join(tokenise(text.rstrip()).split()) for text in texts)
    data, view = framed(made.data)
    return numbered(data, *spans(view), len(texts))


@cache
def _foreign(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    # Both names are the same model, and sacrebleu says so each time the old one is used.
    name = _RENAMED.get(name, name)
    if _NEEDS[name][0] == "sentencepiece":
        _check_model(name)
    try:
        made: Callable[[str], str] = BLEU(tokenize=name).tokenizer
    except (ImportError, OSError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"tokenize={name} cannot be used: {reason}") from error
    return made


def _check_model(name: str) -> None:
    """Make sure that the model is there: sacrebleu would fetch it, and write it to the home."""
    from sacrebleu.tokenizers.tokenizer_spm import SACREBLEU_DIR, SPM_MODELS

    source = SPM_MODELS[name]["url"]
    path = Path(SACREBLEU_DIR) / "models" / source.rpartition("/")[2]
    if not path.is_file():
        raise UsageError(
            f"tokenize={name} needs a model, and nothing is downloaded here; put {source} at "
            f"{path}, or choose another tokeniser"
        )
