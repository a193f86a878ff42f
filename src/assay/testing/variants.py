# SPDX-License-Identifier: Apache-2.0
"""Which metrics get the contract tests without being listed: all there are, in all their forms."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from assay import metrics, tasks
from assay.core.batch import Pair
from assay.core.metric import Metric, build
from assay.testing.metric import MetricContract, is_text


def variants(cls: type[Metric]) -> list[Metric]:
    """The metric as it is by default, by each alias, and with one parameter changed at a time.

    Parameters of type bool and `Literal` take each of their values; others stay as they are.

    >>> from assay.metrics.exact import Exact
    >>> [metric.text for metric in variants(Exact)]
    ['exact', 'exact(normalize=squad)', 'exact(lowercase=true)', 'exact(strip=true)']
    """
    found = [cls(), *(build(alias, [cls]) for alias in cls.aliases)]
    if dataclasses.is_dataclass(cls):
        hints = get_type_hints(cls)
        for field in dataclasses.fields(cls):
            hint = hints[field.name]
            values: tuple[object, ...] = (True, False) if hint is bool else ()
            if get_origin(hint) is Literal:
                values = get_args(hint)
            found += [cls(**{field.name: value}) for value in values]
    return list(dict.fromkeys(found))


def contracts(
    found: Iterable[Metric], samples: Sequence[Pair] | None = None
) -> Iterator[tuple[str, type[MetricContract]]]:
    """A named test class for each of these metrics; `globals().update(...)` makes pytest see them.

    With `samples` examples are drawn from these pairs, else they are text.
    """
    for metric in found:
        held: dict[str, object] = {"metric": metric}
        if samples is not None:
            pairs = st.sampled_from(samples)
            held["pairs"] = lambda self, pairs=pairs: pairs
            if not all(is_text(p.prediction) and is_text(p.gold) for p in samples):
                held["test_columns_of_text_are_measured_like_lists"] = None
        name = "Test_" + re.sub(r"\W+", "_", metric.text).strip("_")
        yield name, type(name, (MetricContract,), held)


def of_everything() -> Iterator[tuple[str, type[MetricContract]]]:
    """Test classes for all text metrics that come with Assay, and for all that tasks list."""
    yield from contracts(metric for cls in metrics.builtin() for metric in variants(cls))
    for name in tasks.names():
        for metric, samples in tasks.load(name).samples():
            for title, cls in contracts([metric], samples):
                yield f"Test_{name}_{title.removeprefix('Test_')}", cls
