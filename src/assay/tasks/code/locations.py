# SPDX-License-Identifier: Apache-2.0
"""Variable misuse: is there a bug, where, and what should stand there instead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.core.batch import Pair
from assay.core.metric import PairMetric, Score, Totals, Value
from assay.tasks.code.labels import first_text
from assay.tasks.code.shares import share

Style = Literal["pointed", "unpointed"]

NO_BUG = "NO_BUG"
NOWHERE = "1"
"""The location that says that there is no bug."""

STARTS: Mapping[str, str] = {"pointed": "POINTER(", "unpointed": "ERROR_LOCATION_"}
"""How a buggy line begins."""

_POINTED = re.compile(r"POINTER\((\d+),")
_UNPOINTED = re.compile(r"ERROR_LOCATION_(\d+)(?:\s|\Z)")


def location(text: str, style: str) -> str | None:
    """The location of the bug as digits without leading zeros, `NOWHERE`, or None if unreadable.

    >>> location("POINTER(04,x) y", "pointed"), location("BUG_FREE", "unpointed")
    ('4', '1')
    """
    if style == "pointed":
        found = _POINTED.match(text)
        return _digits(found[1]) if found else None
    if text.startswith("BUG_FREE"):
        return NOWHERE
    found = _UNPOINTED.match(text)
    number = _digits(found[1]) if found else None
    return None if number == NOWHERE else number  # location 1 is written BUG_FREE here


def _digits(text: str) -> str:
    # Not int(): it takes other alphabets' digits too, but no more than some thousand of them.
    plain = text if text.isascii() else "".join(str(unicodedata.decimal(c)) for c in text)
    return plain.lstrip("0") or "0"


@dataclass(frozen=True)
class BugRepair(PairMetric):
    """Variable misuse as one line: whole line right, location right, repair right.

    Shares from 0 to 1, higher is better, 0 where nothing is to be counted. `seq_acc`: whole line,
    of all; `bug_free_class_acc`: recognised as bug-free, of the bug-free; the others of the buggy:
    whole line, first token (location), all tokens after it (repair). Source: GREAT (Hellendoorn et
    al. 2020) as scored by PLUR (Chen et al. 2021). Of several candidates the first counts.

    >>> BugRepair().score([("POINTER(1,a) b", "POINTER(2,c) b"), ("NO_BUG", "NO_BUG")])["rep_acc"]
    1.0
    """

    name: ClassVar[str] = "bug_repair"
    columns = ("n", "same", "buggy", "buggy_same", "free", "free_same", "located", "repaired")
    scores: ClassVar[tuple[Score, ...]] = (
        Score("seq_acc", proportion=("same", "n")),
        Score("loc_and_rep_acc", proportion=("buggy_same", "buggy")),
        Score("bug_free_class_acc", proportion=("free_same", "free")),
        Score("loc_acc", proportion=("located", "buggy")),
        Score("rep_acc", proportion=("repaired", "buggy")),
    )
    perfect: ClassVar[bool] = False  # gold without bugs, or with bugs only, leaves shares at 0

    def measure_pair(self, pair: Pair) -> Sequence[float]:
        """What is right, each out of 0 or 1."""
        prediction, gold = first_text(pair.prediction), first_text(pair.gold)
        same, free = prediction == gold, gold == NO_BUG
        if free:
            return 1, same, 0, 0, 1, same, 0, 0
        if pair.missing:  # no repair is not an empty repair
            return 1, 0, 1, 0, 0, 0, 0, 0
        place, *repair = prediction.split(" ")
        gold_place, *gold_repair = gold.split(" ")
        return 1, same, 1, same, 0, 0, place == gold_place, repair == gold_repair

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The shares."""
        pairs = {score.name: score.proportion for score in self.scores}
        return {name: share(totals[p[0]], totals[p[1]]) for name, p in pairs.items() if p}


@dataclass(frozen=True)
class MisuseRepair(PairMetric):
    """Variable misuse with readable locations: bug seen, localised, repaired.

    `true_positive`, `localized` and `localized_and_repaired` are shares of the buggy examples,
    `true` (bug or no bug recognised) and `sequence_accuracy` of all; higher is better, 0 where
    there is nothing to count. A prediction whose location cannot be read is a syntax error and
    right in nothing. The `raw_*` shares divide by the sizes that the test set had before examples
    were dropped, if both are given; they are undefined otherwise. Source: CuBERT (Kanade et al.
    2020) as scored by PLUR (Chen et al. 2021). Of several candidates the first counts.

    >>> MisuseRepair().score([("POINTER(4,a) b", "POINTER(4,a) c")])["localized"]
    1.0
    """

    name: ClassVar[str] = "misuse_repair"
    columns = (
        "n",
        "buggy",
        "both_buggy",
        "true",
        "localized",
        "repaired",
        "unreadable",
        "same",
    )
    scores: ClassVar[tuple[Score, ...]] = (
        Score("true_positive", proportion=("both_buggy", "buggy")),
        Score("true", proportion=("true", "n")),
        Score("localized", proportion=("localized", "buggy")),
        Score("localized_and_repaired", proportion=("repaired", "buggy")),
        Score("raw_true_positive", high=np.inf),  # raw totals may be smaller than the data
        Score("raw_true", high=np.inf),
        Score("raw_localized", high=np.inf),
        Score("raw_localized_and_repaired", high=np.inf),
        Score("sequence_accuracy", proportion=("same", "n")),
        Score("total_buggy", high=np.inf),
        Score("total_syntax_errors", higher_is_better=False, high=np.inf),
        Score("total_localized_but_not_repaired", higher_is_better=False, high=np.inf),
    )
    perfect: ClassVar[bool] = False  # counts have no best value

    style: str = "pointed"
    raw_total: int = 0
    raw_total_buggy: int = 0

    def measure_pair(self, pair: Pair) -> Sequence[float]:
        """What is right, each out of 0 or 1."""
        prediction, gold = first_text(pair.prediction).strip(), first_text(pair.gold).strip()
        place, gold_place = location(prediction, self.style), location(gold, self.style)
        buggy = gold_place != NOWHERE
        if place is None:
            return 1, buggy, 0, 0, 0, 0, 1, 0
        says_buggy, same = place != NOWHERE, prediction == gold
        return (
            1,
            buggy,
            buggy and says_buggy,
            buggy == says_buggy,
            says_buggy and place == gold_place,
            says_buggy and same,
            0,
            same,
        )

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Shares of what there is, shares of what there was, and counts."""
        raw = np.float64(self.raw_total or np.nan), np.float64(self.raw_total_buggy or np.nan)
        return {
            "true_positive": share(totals.both_buggy, totals.buggy),
            "true": share(totals.true, totals.n),
            "localized": share(totals.localized, totals.buggy),
            "localized_and_repaired": share(totals.repaired, totals.buggy),
            "raw_true_positive": totals.both_buggy / raw[1],
            "raw_true": totals.true / raw[0],
            "raw_localized": totals.localized / raw[1],
            "raw_localized_and_repaired": totals.repaired / raw[1],
            "sequence_accuracy": share(totals.same, totals.n),
            "total_buggy": totals.buggy,
            "total_syntax_errors": totals.unreadable,
            "total_localized_but_not_repaired": totals.localized - totals.repaired,
        }
