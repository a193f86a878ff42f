# SPDX-License-Identifier: Apache-2.0
"""What `assay simul` does with runs and logs besides scoring: plot, compare, convert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.core.options import Option, Verb

_SCORES = (
    Option("quality", ("--quality",), "The score that is quality; default: BLEU or chrF."),
    Option("latency", ("--latency",), "The score that is latency; default: the main one."),
)
_STATISTICS = (
    Option("ci", ("--ci",), "Level of intervals and regions.", kind="number", default=0.95),
    Option("resamples", ("--resamples",), "Resamples.", kind="integer", default=1000),
    Option("seed", ("--seed",), "Seed of all resampling.", kind="integer", default=12345),
)
_MARGINS = (
    Option(
        "margin",
        ("--margin",),
        "Differences of quality below this do not matter.",
        kind="number",
        default=1.0,
    ),
    Option(
        "latency_margin",
        ("--latency-margin",),
        "Differences of latency below this do not matter.",
        kind="number",
    ),
)


def _plot(runs: Sequence[Any], output: str, sentence: str | None, **given: Any) -> str:
    from assay.tasks.simul.pictures import staircase_picture, tradeoff_picture, write_picture
    from assay.tasks.simul.tradeoff import joint_verdicts, verdict_lines

    if not runs:
        from assay.core.errors import UsageError

        raise UsageError("give the folders of saved runs: assay simul plot runs/a runs/b -o a.svg")
    if sentence is not None:
        return str(write_picture(staircase_picture(runs, sentence), output))
    _check_statistics(given)
    lines: list[str] = []
    settings = {"resamples": given["resamples"], "seed": given["seed"]}
    chart, front = tradeoff_picture(
        runs, quality=given["quality"], latency=given["latency"], level=given["ci"], **settings
    )
    if len(runs) > 1:
        lines += verdict_lines(_verdicts(joint_verdicts, runs, given))
    lines.append(front)
    return "\n".join([*lines, str(write_picture(chart, output))])


def _compare(runs: Sequence[Any], json: bool, **given: Any) -> str:
    from assay.core.errors import UsageError
    from assay.tasks.simul.tradeoff import as_data, joint_verdicts, verdict_lines

    if len(runs) < 2:
        raise UsageError("give two or more folders of saved runs: assay simul compare A B")
    _check_statistics(given)
    found = _verdicts(joint_verdicts, runs, given)
    if json:
        import json as encoder

        from assay.core.document import plain

        document = {"schema": "assay.tradeoff/1", "pairs": plain(as_data(found))}
        return encoder.dumps(document, ensure_ascii=False, indent=2)
    return "\n".join(verdict_lines(found))


def _check_statistics(given: dict[str, Any]) -> None:
    """Refuse numbers that nobody can mean."""
    from assay.aggregate.asked import check_resampling
    from assay.core.errors import UsageError

    if not 0 < given["ci"] < 1:
        raise UsageError(f"--ci {given['ci']} must lie between 0 and 1 (0.95 for 95 %)")
    check_resampling(given["resamples"], given["seed"])


def _verdicts(judge: Any, runs: Sequence[Any], given: dict[str, Any]) -> Any:
    return judge(
        runs,
        quality=given["quality"],
        latency=given["latency"],
        margin=given["margin"],
        latency_margin=given["latency_margin"],
        level=given["ci"],
        resamples=given["resamples"],
        seed=given["seed"],
    )


def _convert(**given: Any) -> str:
    from assay.tasks.simul.convert import convert

    return convert(**given)


def _latency(input: str, start_from_zero: bool, say: Callable[[str], object]) -> str:
    from assay.tasks.simul.fairseq import latency_report

    return latency_report(input, start_from_zero, say)


VERBS = (
    Verb(
        "latency",
        "Latency of a file of delays, as fairseq's eval_latency.py prints it.",
        _latency,
        (
            Option(
                "input",
                ("--input",),
                "Lines of src_len and delays, those of end marks included.",
                kind="path",
                required=True,
                metavar="FILE",
            ),
            Option(
                "start_from_zero",
                ("--start-from-zero",),
                "Delays count from 0: add 1 to each.",
                kind="flag",
            ),
        ),
        talks=True,
    ),
    Verb(
        "plot",
        "Draw quality against latency of saved runs, with joint regions and the Pareto front; or "
        "with --sentence the delays of one stream.",
        _plot,
        (
            Option(
                "output",
                ("--output", "-o"),
                "The picture to write.",
                kind="path",
                default="plot.svg",
                metavar="FILE.svg",
            ),
            Option("sentence", ("--sentence",), "Draw the delays of this stream, by its id."),
            *_SCORES,
            *_MARGINS,
            *_STATISTICS,
        ),
        arguments=("runs",),
        runs="runs",
    ),
    Verb(
        "compare",
        "Compare saved runs by quality and latency at once, with one verdict for each pair.",
        _compare,
        (
            *_SCORES,
            *_MARGINS,
            *_STATISTICS,
            Option("json", ("--json",), "Print one JSON document.", kind="flag"),
        ),
        arguments=("runs",),
        runs="runs",
    ),
    Verb(
        "convert",
        "Write a log in another format.",
        _convert,
        (
            Option("log", ("LOG",), "The log of a system.", kind="path", required=True),
            Option(
                "to",
                ("--to",),
                "The format.",
                kind="choice",
                choices=("fairseq", "simuleval", "simulstream", "omnisteval", "events"),
                required=True,
            ),
            Option(
                "output",
                ("--output", "-o"),
                "The folder to write.",
                kind="path",
                required=True,
                metavar="DIR",
            ),
            Option("gold", ("--gold", "-g"), "References, if the log has none.", kind="path"),
            Option(
                "source_type",
                ("--source-type",),
                "What the source is, where the log does not say.",
                kind="choice",
                choices=("text", "speech"),
            ),
            Option(
                "detokenizer",
                ("--detokenizer",),
                "How the tokens of a simulstream log become text.",
                kind="choice",
                choices=("word", "char", "spm"),
                default="spm",
            ),
            Option(
                "eval_latency_unit",
                ("--eval-latency-unit",),
                "The unit that the tokens of a simulstream log are put together to.",
                kind="choice",
                choices=("word", "char"),
                default="word",
            ),
            Option("segments", ("--segments",), "Segments of recordings.", kind="path"),
            Option(
                "ca_times",
                ("--ca-times",),
                "What the computation-aware times of an event log are in the other format; "
                "SimulEval's by default.",
                kind="choice",
                choices=("queue", "simuleval", "chunk"),
            ),
        ),
    ),
)
