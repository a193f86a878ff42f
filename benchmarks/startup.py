# SPDX-License-Identifier: Apache-2.0
"""Start-up: `assay --help` and `import assay` against a bare click program, and a first score."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.harness import Case, command

CLICK = "import click; click.Command('x', params=[click.Option(['--n'])]).main(['--help'])"
PYTHON = sys.executable
BIN = Path(PYTHON).parent
SAMPLE = Path(__file__).parent.parent / "examples" / "text"
PREDICTIONS, GOLD = str(SAMPLE / "improved.txt"), str(SAMPLE / "reference.txt")
SCORE = ["text", "score", "-p", PREDICTIONS, "-g", GOLD, "-m", "bleu", "--ci", "0"]

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
        "BLEU of 40 lines, from the command line",
        "sacrebleu",
        ours=command([str(BIN / "assay"), *SCORE]),
        peer=command([str(BIN / "sacrebleu"), GOLD, "-i", PREDICTIONS, "-m", "bleu"]),
        must=2,
        tolerance=None,
    ),
]
