# SPDX-License-Identifier: Apache-2.0
"""Start-up: `assay --help` and `import assay` against a bare click program, and a first score."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.corpora import corpus
from benchmarks.harness import Case, Work, command

CLICK = "import click; click.Command('x', params=[click.Option(['--n'])]).main(['--help'])"
PYTHON = sys.executable
BIN = Path(PYTHON).parent
N_LINES = 100


def ours(*options: str) -> Callable[[], Work]:
    """BLEU of a hundred lines by our command."""

    def start() -> Work:
        files = corpus(N_LINES)
        given = ["-p", str(files.predictions), "-g", str(files.gold), "-m", "bleu", *options]
        return command([str(BIN / "assay"), "text", "score", *given])()

    return start


def peer(*options: str) -> Callable[[], Work]:
    """The same by sacrebleu's."""

    def start() -> Work:
        files = corpus(N_LINES)
        given = [str(files.gold), "-i", str(files.predictions), "-m", "bleu", *options]
        return command([str(BIN / "sacrebleu"), *given])()

    return start


CASES = [
    Case(
        "`assay --help` (0.5x is twice the time of click alone)",
        "bare click --help",
        ours=command([str(BIN / "assay"), "--help"]),
        peer=command([PYTHON, "-c", CLICK]),
        must=0.5,
        tolerance=None,
    ),
    Case(
        "`import assay`",
        "import click",
        ours=command([PYTHON, "-c", "import assay"]),
        peer=command([PYTHON, "-c", "import click"]),
        must=0.5,
        tolerance=None,
    ),
    Case(
        "help of the command",
        "sacrebleu --help",
        ours=command([str(BIN / "assay"), "--help"]),
        peer=command([str(BIN / "sacrebleu"), "--help"]),
        must=2,
        tolerance=None,
    ),
    Case(
        f"BLEU of {N_LINES} lines, from the command line",
        "sacrebleu",
        ours=ours("--ci", "0"),
        peer=peer(),
        must=2,
        tolerance=None,
    ),
    Case(
        f"BLEU of {N_LINES} lines with its interval, from the command line",
        "sacrebleu --confidence",
        ours=ours(),
        peer=peer("--confidence"),
        must=2,
        tolerance=None,
    ),
]
