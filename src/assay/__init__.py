# SPDX-License-Identifier: Apache-2.0
"""Assay: measure predictions against gold, and know how sure you are.

    import assay
    result = assay.evaluate("text", "system.txt", "reference.txt", metrics=["bleu", "chrf"])
    print(result)

Public names are those of `__all__`. They are imported when first used: `import assay` by itself
loads nothing else.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing `typing` for it would be most of what `import assay` takes
if TYPE_CHECKING:
    from typing import Any

    from assay.core.batch import Batch, Pair
    from assay.core.comparison import ComparisonDocument
    from assay.core.document import ResultDocument
    from assay.core.errors import (
        AlignError,
        AssayError,
        EngineError,
        FindingError,
        InputError,
        MismatchError,
        OutputError,
        UsageError,
    )
    from assay.core.metric import Metric, PairMetric, Score, Totals, Value, f_score, ratio
    from assay.core.options import Option, Verb
    from assay.core.task import Examples, Task
    from assay.core.text import TextLists, Texts
    from assay.pipeline.compare import Comparison, compare
    from assay.pipeline.diff import Diff, diff
    from assay.pipeline.evaluate import evaluate
    from assay.pipeline.gate import Gate, gate
    from assay.pipeline.leaderboard import leaderboard
    from assay.pipeline.report import Report, make_report
    from assay.pipeline.result import Result
    from assay.pipeline.runs import load_run
    from assay.pipeline.verify import verify

_HOME = {
    "assay.core.batch": ("Batch", "Pair"),
    "assay.core.comparison": ("ComparisonDocument",),
    "assay.core.document": ("ResultDocument",),
    "assay.core.errors": (
        "AlignError",
        "AssayError",
        "EngineError",
        "FindingError",
        "InputError",
        "MismatchError",
        "OutputError",
        "UsageError",
    ),
    "assay.core.metric": ("Metric", "PairMetric", "Score", "Totals", "Value", "f_score", "ratio"),
    "assay.core.options": ("Option", "Verb"),
    "assay.core.task": ("Examples", "Task"),
    "assay.core.text": ("TextLists", "Texts"),
    "assay.pipeline.compare": ("Comparison", "compare"),
    "assay.pipeline.diff": ("Diff", "diff"),
    "assay.pipeline.evaluate": ("evaluate",),
    "assay.pipeline.gate": ("Gate", "gate"),
    "assay.pipeline.leaderboard": ("leaderboard",),
    "assay.pipeline.report": ("Report", "make_report"),
    "assay.pipeline.result": ("Result",),
    "assay.pipeline.runs": ("load_run",),
    "assay.pipeline.verify": ("verify",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    # what one calls
    "compare",
    "diff",
    "evaluate",
    "gate",
    "leaderboard",
    "load_run",
    "make_report",
    "verify",
    # what one gets
    "Comparison",
    "ComparisonDocument",
    "Diff",
    "Gate",
    "Report",
    "Result",
    "ResultDocument",
    # what one extends
    "Batch",
    "Examples",
    "Metric",
    "Option",
    "Pair",
    "PairMetric",
    "Score",
    "Task",
    "TextLists",
    "Texts",
    "Totals",
    "Value",
    "Verb",
    "f_score",
    "ratio",
    # what one catches
    "AlignError",
    "AssayError",
    "EngineError",
    "FindingError",
    "InputError",
    "MismatchError",
    "OutputError",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
