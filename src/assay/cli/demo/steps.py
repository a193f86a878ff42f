# SPDX-License-Identifier: Apache-2.0
"""What the demo runs: steps of commands, as a user would type them.

To add one, write the commands with `{samples}` for the folder of sample data (a copy of
`examples/`) and `{runs}` for the folder of run folders; `< FILE` at the end is standard input. All
runs that are saved end up in the report.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """Commands under a heading. `tells` is how many lines of the last one's output are shown."""

    title: str
    commands: tuple[str, ...]
    tells: int = 1


def scored(pattern: str, task: str, *systems: str) -> tuple[str, ...]:
    """A scoring command for each system, each saving its run, and their comparison.

    >>> scored("assay text score -p {samples}/{system}.txt", "text", "a", "b")[2]
    'assay compare {runs}/text/a {runs}/text/b'
    """
    runs = [f"{{runs}}/{task}/{system}" for system in systems]
    scores = [
        f"{pattern.replace('{system}', system)} --save {run}"
        for system, run in zip(systems, runs, strict=True)
    ]
    return (*scores, f"assay compare {' '.join(runs)}")


# With the margin that `assay simul compare` has unasked, so that both give the same verdict.
REPORT = "assay report --margin BLEU=1"
JUDGE = "assay judge {runs}/text/baseline {runs}/text/improved"
COMMANDS = (
    "assay commands score --gold {samples}/commands/gold.jsonl --num_examples 20 "
    "--judgements {samples}/commands/judgements"
)
LIVE = (
    "assay simul run --agent-type waitk_text --src-file {samples}/simul/live/source.txt "
    "--tgt-file {samples}/simul/live/target.txt --phrase-table {samples}/simul/live/phrases.tsv"
)

STEPS = (
    Step(
        "text: two translations of forty sentences",
        scored(
            "assay text score --predictions {samples}/text/{system}.jsonl --slice topic",
            "text",
            "baseline",
            "improved",
        ),
    ),
    Step(
        "judging: two people look at some of these sentences",
        (
            f"{JUDGE} --judge ada --sample 8 --order-seed 1 < {{samples}}/judging/ada.txt",
            f"{JUDGE} --judge bo --sample 8 --order-seed 1 < {{samples}}/judging/bo.txt",
            f"{JUDGE} --agreement",
        ),
        tells=5,
    ),
    Step(
        "code: two models name methods, three candidates each",
        scored(
            "assay code score --dataset_name ogb_code --system {system} "
            "--prediction_file {samples}/code/beams.{system}.txt "
            "--target_file {samples}/code/names.gold.txt",
            "code-names",
            "gull",
            "heron",
        ),
    ),
    Step(
        "code: two models predict the class of an exception",
        scored(
            "assay code score --dataset_name cubert_exception_classification --system {system} "
            "--prediction_file {samples}/code/exceptions.{system}.txt "
            "--target_file {samples}/code/exceptions.gold.txt",
            "code-exceptions",
            "gull",
            "heron",
        ),
    ),
    Step(
        "metadata: two programs read the head of papers",
        scored(
            "assay metadata score --input {samples}/metadata/{system} "
            "--truth {samples}/metadata/gold --output {runs}/metadata/{system}-files",
            "metadata",
            "kestrel",
            "plover",
        ),
    ),
    Step(
        "sparql: two parsers answer questions about an island",
        scored(
            "assay sparql score --file_path {samples}/sparql/{system}.json "
            "--kg {samples}/sparql/island.ttl",
            "sparql",
            "careless",
            "careful",
        ),
    ),
    Step(
        "commands: two systems write shell commands, which people have judged",
        (
            f"{COMMANDS} --predictions {{samples}}/commands/wren.txt --save {{runs}}/commands/wren",
            f"{COMMANDS} --predictions {{samples}}/commands/heron.jsonl "
            "--save {runs}/commands/heron",
            "assay compare {runs}/commands/wren {runs}/commands/heron",
        ),
    ),
    Step(
        "simul: logs of three simultaneous systems, quality against latency",
        (
            "assay simul score {samples}/simul/systems/eager --save {runs}/simul/eager",
            "assay simul score {samples}/simul/systems/patient --save {runs}/simul/patient",
            "assay simul score {samples}/simul/systems/steady --save {runs}/simul/steady",
            "assay simul compare {runs}/simul/eager {runs}/simul/patient {runs}/simul/steady",
        ),
        tells=3,
    ),
    Step(
        "simul: two agents run live, in this process",
        (
            f"{LIVE} --waitk 1 --output {{runs}}/live/log-wait1",
            f"{LIVE} --waitk 3 --output {{runs}}/live/log-wait3",
            "assay simul score {runs}/live/log-wait1 --system wait1 --save {runs}/live/wait1",
            "assay simul score {runs}/live/log-wait3 --system wait3 --save {runs}/live/wait3",
            "assay simul compare {runs}/live/wait1 {runs}/live/wait3",
        ),
    ),
)
