# SPDX-License-Identifier: Apache-2.0
"""The metric of CONTRIBUTING.md works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from assay import Metric

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"


def brevity() -> Metric:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {"__name__": "contributing"}
    exec(block, names)
    metric: Metric = names["Brevity"]()
    return metric


def test_the_metric_of_the_page_measures_what_it_says() -> None:
    # 3 and 1 characters predicted (the first candidate), 4 and 4 in the first references
    assert brevity().score([("abc", "abcd"), (["d", "e"], ["abcd", "x"])]) == {"brevity": 4 / 8}


def test_it_is_at_most_twenty_lines() -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
