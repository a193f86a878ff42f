# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.core.batch import Batch
from assay.core.references import candidates, first_lowest

texts = st.text("ab ", max_size=3)
examples = st.lists(st.tuples(texts, st.lists(texts, max_size=3)), max_size=6)


@given(examples, st.integers(0, 6))
def test_each_prediction_meets_each_of_its_references(
    held: list[tuple[str, list[str]]], start: int
) -> None:
    batch = Batch([p for p, _ in held], [g for _, g in held])
    batch = Batch(batch.texts(), batch.references()).part(min(start, len(held)), len(held))
    found = candidates(batch)
    wanted = [(p, g) for p, gold in held[start:] for g in gold or [""]]
    assert list(zip(found.predictions, found.references, strict=True)) == wanted
    counts = [max(1, len(gold)) for _, gold in held[start:]]
    assert np.diff(found.splits).tolist() == counts
    assert found.owner.tolist() == [i for i, n in enumerate(counts) for _ in range(n)]


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=5))
def test_first_lowest(parts: list[list[int]]) -> None:
    splits = np.cumsum([0] + [len(p) for p in parts])
    values = np.array([v for p in parts for v in p], dtype=float)
    inside = first_lowest(values, splits) - splits[:-1]
    assert inside.tolist() == [p.index(min(p)) for p in parts]
