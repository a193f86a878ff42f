# SPDX-License-Identifier: Apache-2.0
"""Whether gold queries return the gold answers on the graph that predictions are run on.

Where they do not, a right prediction scores as wrong; the share of such questions bounds what
any system can reach.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.batch import Batch
from assay.core.document import Intake
from assay.tasks.sparql.gerbil import answer_sets
from assay.tasks.sparql.pairs import Prediction
from assay.tasks.sparql.setting import Setting

LISTED = 50
"""Questions that are named; the others are only counted."""


def checked(batches: Iterator[Batch], setting: Setting, intake: Intake) -> Iterator[Batch]:
    """Pass batches on, and run their gold queries on the way."""
    executor = setting.executor
    assert executor is not None, "there is something to run on"
    found = {"checked": 0, "different": 0, "failed": 0}
    listed: list[dict[str, str]] = []
    for batch in batches:
        where = [i for i, g in enumerate(batch.gold) if g.query]
        results = executor.run([batch.gold[i].query for i in where])
        for i, (answers, failure) in zip(where, results, strict=True):
            gold = batch.gold[i]
            found["checked"] += 1
            if failure is not None:
                found["failed"] += 1
                why = failure
            else:
                returned, right = answer_sets(Prediction(gold.query, answers), gold)
                if returned == right:
                    continue
                found["different"] += 1
                hits = len(returned & right)
                why = f"returns {len(returned)} answers, {hits} of {len(right)} right"
            if len(listed) < LISTED:
                listed.append({"id": batch.id_of(i), "why": why})
        yield batch
    intake.extra["gold check"] = {**found, "questions": listed}
