# SPDX-License-Identifier: Apache-2.0
"""The options of this task, checked against the data set they are given for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.align import Align
from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.read import Format
from assay.tasks.code.datasets import DATASETS, Dataset, find
from assay.tasks.code.intervals import levels

DEFAULT = DATASETS[0]


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for: `ranks` and `cut` are of candidates, `raw_*` sizes of a test set before
    examples were dropped."""

    dataset: Dataset = DEFAULT
    ranks: int = 1
    cut: int | None = None
    rules: str = "plur"
    raw_total: int = 0
    raw_total_buggy: int = 0
    breaks: Literal["unicode", "lf"] = "unicode"
    format: Format = "lines"
    align: Align = "auto"
    plur_levels: tuple[float, ...] = ()
    compat: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        """Options by their names on the command line; those that are left out have defaults.

        >>> Settings.of({"dataset_name": "funcom", "top_n_beam_search": 3}).ranks
        3
        """
        from assay.tasks.code import TASK

        known = {option.name for option in TASK.options} | {"digits"}
        for name in options:
            if name not in known:
                raise unknown("option", name, known)
        named = options.get("dataset_name")
        settings = cls(
            dataset=find(DEFAULT.name if named is None else named),
            ranks=_given(options.get("top_n_beam_search"), 1),
            cut=options.get("cut_beams"),
            rules=options.get("rules") or "plur",
            raw_total=options.get("cubert_vmr_raw_test_total_examples") or 0,
            raw_total_buggy=options.get("cubert_vmr_raw_test_total_buggy_examples") or 0,
            breaks=options.get("line_breaks") or "unicode",
            format=options.get("input_format") or "lines",
            align=options.get("align") or "auto",
            plur_levels=levels(options.get("plur_levels")),
            compat=options.get("compat") == "plur",
        )
        settings._check()
        return settings

    @property
    def parameters(self) -> dict[str, object]:
        """What the metrics of data sets are made with."""
        return {
            "rules": self.rules,
            "ranks": self.ranks,
            "raw_total": self.raw_total,
            "raw_total_buggy": self.raw_total_buggy,
        }

    def _check(self) -> None:
        family, name = self.dataset.family, self.dataset.name
        if family.candidates == "one" and self.ranks != 1:
            raise UsageError(
                f"--top_n_beam_search {self.ranks} does not fit {name}, which scores one "
                "prediction per line; leave it out, and use --cut-beams 1 if lines have several"
            )
        if self.cut is not None and self.cut < 1:
            raise UsageError(f"--cut-beams {self.cut} must be at least 1")
        if self.rules not in family.rules:
            raise UsageError(
                f"--rules {self.rules} does not fit {name}; it knows {', '.join(family.rules)}"
            )
        if (self.raw_total == 0) != (self.raw_total_buggy == 0):
            raise UsageError(
                "--cubert_vmr_raw_test_total_examples and "
                "--cubert_vmr_raw_test_total_buggy_examples belong together; give both or none"
            )

    def warnings(self, n: int, n_buggy: int) -> list[str]:
        """What to tell about the options once the sizes of the data are known."""
        if not self.raw_total:
            return []
        if self.dataset.family.form != "repairs":
            return [f"raw totals mean nothing for {self.dataset.name} and were not used"]
        pairs = (("examples", self.raw_total, n), ("buggy examples", self.raw_total_buggy, n_buggy))
        return [
            f"the raw total of {what} is {raw:,}, below the {held:,} of the data; "
            "raw shares may exceed 1"
            for what, raw, held in pairs
            if raw < held
        ]


def _given(value: int | None, default: int) -> int:
    return default if value is None else value
