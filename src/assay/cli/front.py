# SPDX-License-Identifier: Apache-2.0
"""The first page of help: every command in a line, written without importing one, or click."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COMMANDS = {
    "compare": "Say which of several runs is better, by how much and how sure.",
    "demo": "Score and compare sample systems of every task, as one page.",
    "diff": "List what changed between two runs, example by example.",
    "doctor": "Say what files are, what is wrong with them, and whether two line up.",
    "gate": "Fail (exit code 1) when a run is worse than its baseline.",
    "judge": "Ask people whether predictions are right; agreement, estimates.",
    "leaderboard": "List all runs below a folder, the best first.",
    "metrics": "List the metrics with their parameters.",
    "plan": "How many examples a comparison needs, or what it can show.",
    "report": "Make one page of runs: the answer, tables, pictures, examples.",
    "show": "Show a saved run.",
    "tasks": "List the tasks.",
    "verify": "Compute a saved run again from its inputs and compare.",
}
"""What works on any run: name -> one line; each is `command` of the module of that name."""

HELP_FLAGS = ("-h", "--help")
WIDEST = 100
"""Lines of help do not become longer, however wide the terminal is."""

_NARROWEST = 50
_HEAD = """\
Usage: assay [OPTIONS] COMMAND [ARGS]...

  Measure predictions against gold, and know how sure you are.

  assay text score --predictions system.txt --gold reference.txt -m bleu --save runs/system
  assay compare runs/baseline runs/system
"""


def front_page(width: int | None = None) -> str:
    """What `assay --help` prints, in lines of this width; by default so that the terminal fits."""
    from assay import tasks

    width = width or max(_NARROWEST, min(terminal_columns(), WIDEST) - 2)
    sections = {
        "Options": {
            "--version": "Show the version and exit.",
            "-h, --help": "Show this message and exit.",
        },
        "Tasks": {name: tasks.summary(name) for name in tasks.names()},
        "On any run": COMMANDS,
    }
    lines = [_HEAD]
    for title, entries in sections.items():
        lines += [f"{title}:", *_listed(entries, width), ""]
    return "\n".join(lines)


def version_line() -> str:
    """What `assay --version` prints."""
    from assay import __version__

    return f"assay {__version__}\n"


def terminal_columns() -> int:
    """How wide the terminal is that standard output goes to; COLUMNS, where set, says so."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _listed(entries: Mapping[str, str], width: int) -> Iterator[str]:
    """Names in one column, what is said of them in the next, wrapped below its beginning."""
    indent = max(map(len, entries)) + 4
    for name, said in entries.items():
        line, empty = f"  {name}".ljust(indent), True
        for word in said.split():
            if not empty and len(line) + 1 + len(word) > width:
                yield line
                line, empty = " " * indent, True
            line += word if empty else f" {word}"
            empty = False
        yield line
