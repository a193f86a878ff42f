# SPDX-License-Identifier: Apache-2.0
"""Pairs on which the metrics of this task are held to the contract of all metrics."""

from __future__ import annotations

from assay.core.batch import Pair
from assay.core.metric import Metric
from assay.tasks.code.registry import load

_NAMES = (
    *("get name", "get  name", "getName", "", " ", "<OOV>", "set <pad> size", "Σοφος ΣΑΣ", "İ x"),
    *("a b c d e f g h i j k l m n o p q r s", "get get name name", "x" * 9, f"{'x' * 17} y"),
)
_PAIRS = [
    Pair(prediction, gold)
    for gold in _NAMES
    for prediction in (gold, "get name", ["size", gold], ["", "get", "name get"])
]
_CODE = ("x = getName('a')", 'x = get_name("a")', "return", "", "if é: y()", "\x1c", "HTTPServer()")
_LINES = [Pair(p, g) for g in _CODE for p in (g, _CODE[0], [_CODE[1], g])]

_BUGS = ("NO_BUG", "POINTER(4,x) y", "POINTER(4,x)", "POINTER(7,z) y z")
_REPAIRS = ("POINTER(1,f) f", "POINTER(4,x) y", "POINTER(04,x) y", " POINTER(٤,x) y ")
_UNPOINTED = ("BUG_FREE", "ERROR_LOCATION_4 y", "ERROR_LOCATION_04 y", "ERROR_LOCATION_0")
_BROKEN = ("POINTER(,x)", "POINTER(4)", "ERROR_LOCATION_1", "", "?")
_CLASSES = ("CLASS_Correct", " CLASS_Correct\t", "CLASS_Incorrect", "CorrCLASS_ect")
_EDITS = ("add_node 1 x", "del_node 2", "replace_val 3 y", "replace_type 4 z", "NoOp", "")


def _crossed(gold: tuple[str, ...], others: tuple[str, ...] = ()) -> list[Pair]:
    return [Pair(p, g) for g in gold for p in (*gold, *others)]


def samples() -> list[tuple[Metric, list[Pair]]]:
    """Each metric with pairs of its kind: right, wrong and odd ones."""
    beams = [Pair([*_EDITS[:2], gold], gold) for gold in _EDITS]
    return [
        (load(text), pairs)
        for text, pairs in (
            ("names_pooled", _PAIRS),
            ("names_pooled(rules=code2seq-original)", _PAIRS),
            ("names_averaged", _PAIRS),
            # An empty name has no tokens by the official rules, and cannot be found.
            ("names_averaged(rules=ogb-official)", [p for p in _PAIRS if p.gold.strip()]),
            ("comment_bleu", _PAIRS),
            ("comment_bleu(ranks=3)", _PAIRS),
            ("completion_bleu", _LINES),
            ("successive_tokens", _LINES),
            ("bug_repair", _crossed(_BUGS, _BROKEN)),
            ("misuse_repair", _crossed(_REPAIRS, _BROKEN)),
            ("misuse_repair(raw_total=9,raw_total_buggy=5)", _crossed(_REPAIRS, _BROKEN)),
            ("misuse_repair(style=unpointed)", _crossed(_UNPOINTED, _BROKEN)),
            ("class_accuracy", _crossed(_CLASSES, _BROKEN)),
            ("class_means(labels=docstring)", _crossed(_CLASSES, _BROKEN)),
            ("edit_kinds", [*_crossed(_EDITS), *beams]),
            ("any_candidate", [*_crossed(_EDITS), *beams]),
            ("topk", [*_crossed(_EDITS), *beams]),
        )
    ]
