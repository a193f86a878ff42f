# SPDX-License-Identifier: Apache-2.0
"""Pictures as SVG text, each a pure function of plain data that gives back a `Chart`.

| function | what one sees |
| --- | --- |
| `interval_chart` | scores with intervals; differences with a zero line |
| `dot_chart` | several scores of several systems |
| `slice_chart` | slices as a sorted dot plot with counts, one mark per system |
| `curve_chart` | precision over recall |
| `rank_chart` | how often the right answer is among the first k |
| `tradeoff_chart` | quality against latency with joint regions and the Pareto front |
| `staircase_chart` | how much was read when each unit was written |
| `confusion_chart` | which class was taken for which |
| `agreement_chart`, `judge_pairs_chart` | how far judges agree |

A `Chart` holds the picture, its title, a text alternative and the table behind it: `chart.svg()`
goes into a page, `chart.file()` is a file of its own, `html.figure` is both with the table.
"""

from assay.report.charts.agreement import agreement_chart, judge_pairs_chart
from assay.report.charts.canvas import COLOURS, WIDTH, Chart
from assay.report.charts.confusion import classes_of, confusion_chart
from assay.report.charts.curves import Curve, curve_chart
from assay.report.charts.intervals import ChartRow, interval_chart
from assay.report.charts.ranks import Ranks, rank_chart
from assay.report.charts.slices import SliceRow, dot_chart, slice_chart
from assay.report.charts.staircase import Staircase, staircase_chart
from assay.report.charts.tradeoff import Tradeoff, pareto_front, tradeoff_chart

__all__ = [
    "COLOURS",
    "WIDTH",
    "Chart",
    "ChartRow",
    "Curve",
    "Ranks",
    "SliceRow",
    "Staircase",
    "Tradeoff",
    "agreement_chart",
    "classes_of",
    "confusion_chart",
    "curve_chart",
    "dot_chart",
    "interval_chart",
    "judge_pairs_chart",
    "pareto_front",
    "rank_chart",
    "slice_chart",
    "staircase_chart",
    "tradeoff_chart",
]
