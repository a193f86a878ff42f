# SPDX-License-Identifier: Apache-2.0
"""The columns of both sides as one set: gold holds where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.document import Intake

Columns = Mapping[str, Sequence[str]]


class Merger:
    """Merges columns block by block and warns once of each name on which the sides differ."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._warned: set[str] = set()

    def merged(
        self, predictions: Columns, gold: Columns, besides: Sequence[int] = ()
    ) -> dict[str, Sequence[str]]:
        """The columns of both sides; of a name that both have, the one of the gold.

        `besides` are positions without a prediction, which cannot differ.
        """
        for name in gold.keys() & predictions.keys() - self._warned:
            ours, theirs = list(predictions[name]), list(gold[name])
            for index in besides:
                ours[index] = theirs[index]
            if ours != theirs:
                self._warned.add(name)
                self._intake.warnings.append(
                    f"column '{name}' differs between predictions and gold; the gold's is used"
                )
        return {**predictions, **gold}
