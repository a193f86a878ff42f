# SPDX-License-Identifier: Apache-2.0
"""Telling examples as HTML: gold and predictions side by side, what differs marked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.report.entries import label
from assay.report.escape import isolated, safe_html, told
from assay.report.filters import filter_columns, filters_html
from assay.report.numbers import digits_for, format_number
from assay.report.sections import Kind, Telling, TellingExample
from assay.report.terminal import cut
from assay.report.words import Split, cut_by, merged, texts_of

LONGEST = 1_200
"""Letters of a text that are shown; the run folder has the whole."""
MOST_CANDIDATES = 3
MOST_SYSTEMS = 5
CONTEXT = ("question", "description", "source", "input")
"""Columns that say what was asked, one of which stands above the predictions."""
NEAREST_OF = 10
"""References among which the one that is nearest to a prediction is looked for."""

_TONE: Mapping[Kind, str] = {
    "lost": "bad",
    "won": "good",
    "both wrong": "bad",
    "both right": "good",
    "wrong": "bad",
    "right": "good",
    "alike": "quiet",
    "undefined": "quiet",
}


def examples_html(telling: Telling, name: str, most_bytes: int) -> str:
    """Filters and examples, as many as fit into `most_bytes`; `name` tells sections apart."""
    columns = filter_columns(telling)
    split = cut_by(telling.tokens)
    digits = digits_for(telling.score.unit, [v for e in telling.examples for v in e.scores])
    cards: list[str] = []
    room = most_bytes
    for place, example in enumerate(telling.examples):
        card = _card(telling, example, place, columns, digits, split)
        room -= len(card.encode())
        if room < 0:
            break
        cards.append(card)
    return (
        f'<p class="note">{safe_html(meaning(telling))}</p>\n'
        f"{filters_html(telling, columns, name, len(cards))}"
        f'<div class="examples">\n{"".join(cards)}</div>\n'
    )


def meaning(telling: Telling) -> str:
    """What the kinds mean by this score."""
    key = telling.score.key
    marks = "Marked words are not in gold, struck-out ones are missing."
    if telling.pair[0] == telling.pair[1]:
        return f"Right: the best value of {key}. Wrong: anything less. {marks}"
    behind, ahead = (telling.systems[i] for i in telling.pair)
    if telling.right_wrong:
        return f"{ahead} against {behind}, by {key}. {marks}"
    both = "Both right or wrong: both at the best value, or equally short of it. "
    level = both if {"both right", "both wrong"} & set(telling.counts) else ""
    return f"{ahead} against {behind}, by the {key} of each example. {level}{marks}"


def shown_texts(value: Any) -> list[str]:
    """A value as texts to read: a mapping line by line, a list of texts as candidates.

    >>> shown_texts({"authors": ["Ada", "Bo"], "year": None})
    ['authors: Ada; Bo\\nyear: ']
    """
    if isinstance(value, Mapping):
        return ["\n".join(f"{key}: {_flat(part)}" for key, part in value.items())]
    return texts_of(value)


def _flat(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _card(
    telling: Telling,
    example: TellingExample,
    place: int,
    columns: Iterable[str],
    digits: int,
    split: Split,
) -> str:
    held = {c: example.slices[c] for c in columns if c in example.slices}
    data = safe_html(json.dumps(held, ensure_ascii=False)) if held else ""
    slices = f' data-slices="{data}"' if data else ""
    gain = "" if example.gain != example.gain else f' data-gain="{example.gain:.6g}"'
    called = told(telling.called(example.kind))
    chip = f'<span class="chip {_TONE[example.kind]}">{called}</span>'
    where = " · ".join(f"{c} {cut(v, 40)}" for c, v in list(held.items())[:2])
    aside = f'<span class="aside">{isolated(where)}</span>' if where else ""
    golds = [_cut(text) for text in shown_texts(example.gold)]
    # The two that are held together come first, the leading one before the other.
    pair = telling.pair[::-1]
    shown = list(dict.fromkeys([*pair, *range(len(telling.systems))]))[:MOST_SYSTEMS]
    sides = "".join(_side(telling, example, i, golds, digits, split) for i in shown)
    asked = next((example.slices[c] for c in CONTEXT if example.slices.get(c)), "")
    question = f'<p class="asked">{isolated(_cut(asked))}</p>\n' if asked else ""
    return (
        f'<article class="example" data-kind="{example.kind}" data-place="{place}"{gain}{slices}>\n'
        f"<h4>{isolated(example.id)} {chip}{aside}</h4>\n{question}<dl>"
        f"<div><dt>gold</dt><dd>{_gold(golds)}</dd></div>{sides}</dl></article>\n"
    )


def _gold(texts: Sequence[str]) -> str:
    if not texts:
        return "<em>none</em>"
    more = f' <em class="aside">and {len(texts) - 1} more</em>' if len(texts) > 1 else ""
    return (isolated(texts[0]) or "<em>empty</em>") + more


def _side(
    telling: Telling,
    example: TellingExample,
    system: int,
    golds: Sequence[str],
    digits: int,
    split: Split,
) -> str:
    score = example.scores[system]
    value = format_number(score, digits) or "undefined"
    if telling.right_wrong:
        value = {0.0: "wrong", 1.0: "right"}.get(score, "undefined")
    said = value if telling.right_wrong else f"{label(telling.score)} {value}"
    name = isolated(telling.systems[system])
    return (
        f'<div><dt>{name} <span class="aside">{safe_html(said)}</span></dt>'
        f"<dd>{_prediction(example.predictions[system], golds, split)}</dd></div>"
    )


def _prediction(value: Any, golds: Sequence[str], split: Split) -> str:
    if value is None:
        return "<em>missing</em>"
    texts = shown_texts(value)
    parts = [_marked(_cut(text), golds, split) for text in texts[:MOST_CANDIDATES]]
    if len(texts) > MOST_CANDIDATES:
        parts.append(f'<em class="aside">and {len(texts) - MOST_CANDIDATES} more</em>')
    if len(texts) < 2:
        return parts[0] if parts else "<em>empty</em>"
    return f"<ol>{''.join(f'<li>{part}</li>' for part in parts)}</ol>"


def _marked(text: str, golds: Sequence[str], split: Split) -> str:
    """The text, what gold does not have marked and what it lacks put in."""
    if not text:
        return "<em>empty</em>"
    if not golds:
        return isolated(text)
    gold = _nearest(text, golds, split)
    if gold == text:
        return f'{isolated(text)} <span class="good same" title="as gold">✓</span>'
    tags = {"same": "", "deleted": "del", "inserted": "ins"}
    parts: list[str] = []
    for kind, piece in merged(gold, text, split):
        if (
            kind == "inserted"
            and parts
            and parts[-1].endswith("</del>")
            and not piece[:1].isspace()
        ):
            parts.append('<span class="gap"></span>')
        tag = tags[kind]
        if "\n" in piece and not piece.strip():  # a line break cannot be seen, marked or not
            tag, piece = "", piece if kind != "deleted" else ""
        core = piece.strip() or piece
        before, _, after = piece.partition(core)
        body = f"<{tag}>{safe_html(core)}</{tag}>" if tag else safe_html(core)
        parts.append(f"{safe_html(before)}{body}{safe_html(after)}")
    joined = "".join(parts)
    return joined if (text + gold).isascii() else f"<bdi>{joined}</bdi>"


def _nearest(text: str, golds: Sequence[str], split: Split) -> str:
    if len(golds) == 1 or text in golds:
        return text if text in golds else golds[0]
    from rapidfuzz.distance import LCSseq  # late: only a report needs it

    own = [word.text for word in split(text)]
    near = [
        LCSseq.normalized_similarity(own, [word.text for word in split(gold)])
        for gold in golds[:NEAREST_OF]
    ]
    return golds[near.index(max(near))]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
