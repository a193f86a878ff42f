# SPDX-License-Identifier: Apache-2.0
"""Ids in predicted queries that the graph does not have: invented, or from another graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import msgspec
import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.sparql.components import parts_of
from assay.tasks.sparql.setting import Executor, Setting

_RELATION_PREFIXES = ("wdt", "p", "ps", "pq")


def looked_up(batches: Iterator[Batch], setting: Setting) -> Iterator[Batch]:
    """Pass batches on, their predictions with the ids that the graph does not have."""
    executor = setting.executor
    assert executor is not None, "there is something to ask"
    known: dict[str, bool] = {}
    for batch in batches:
        ids = [_ids(p.query) for p in batch.predictions]
        _look_up(dict.fromkeys(i for own in ids for i in own if i not in known), known, executor)
        predictions = [
            msgspec.structs.replace(p, unknown=[i for i in own if not known[i]])
            for p, own in zip(batch.predictions, ids, strict=True)
        ]
        yield replace(batch, predictions=predictions)


def _ids(query: str | None) -> list[str]:
    parts = parts_of(query or "")
    return sorted(parts.entities | parts.relations)


def _look_up(ids: Mapping[str, None], known: dict[str, bool], executor: Executor) -> None:
    replies = executor.run([_question(i) for i in ids])
    for i, (answer, _) in zip(ids, replies, strict=True):
        known[i] = answer is not False  # no reply says nothing about the id


def _question(name: str) -> str:
    """Whether the graph has an entity anywhere, or a relation between anything.

    >>> _question("Q7")
    'ASK { { wd:Q7 ?p ?o } UNION { ?s ?p wd:Q7 } }'
    """
    patterns = [f"wd:{name} ?p ?o", f"?s ?p wd:{name}"]
    if name.startswith("P"):
        patterns = [f"?s {prefix}:{name} ?o" for prefix in _RELATION_PREFIXES] + patterns
    return "ASK { " + " UNION ".join(f"{{ {p} }}" for p in patterns) + " }"


@dataclass(frozen=True)
class UnknownIds(Metric):
    """Ids in predicted queries that the graph does not have.

    `unknown_id_rate` is the share of the ids, `unknown_id_questions` the share of questions whose
    predicted query has at least one. From 0 to 1, lower is better; undefined where no id was
    looked up, and without questions. Ids are Wikidata's (Q..., P...), each counted once a query.

    >>> from assay.tasks.sparql.pairs import Gold, Prediction
    >>> query = "SELECT ?x { wd:Q1 wdt:P2 ?x }"
    >>> UnknownIds().score([(Prediction(query, unknown=["Q1"]), Gold("set", None, []))])
    {'unknown_id_rate': 0.5, 'unknown_id_questions': 1.0}
    """

    name: ClassVar[str] = "unknown_ids"
    columns: ClassVar[tuple[str, ...]] = ("ids", "unknown", "n", "with_unknown")
    scores: ClassVar[tuple[Score, ...]] = (
        Score("unknown_id_rate", higher_is_better=False),
        Score("unknown_id_questions", higher_is_better=False, proportion=("with_unknown", "n")),
    )
    perfect: ClassVar[bool] = False  # gold may name what the graph does not have

    def measure(self, batch: Batch) -> Rows:
        """Ids and unknown ones, per example that was looked up."""
        rows = np.zeros((len(batch), 4))
        for i, prediction in enumerate(batch.predictions):
            if prediction.unknown is not None:
                n = len(prediction.unknown)
                rows[i] = (len(_ids(prediction.query)), n, 1, n > 0)
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Unknown ids over ids, and questions with some over questions."""
        return {
            "unknown_id_rate": ratio(totals.unknown, totals.ids),
            "unknown_id_questions": ratio(totals.with_unknown, totals.n),
        }
