# SPDX-License-Identifier: Apache-2.0
"""Keeps the documentation true: writes the reference pages and runs the commands on every page.

`make docs` writes docs/reference/ again and puts the real output below each command of each page.
Tests hold every page to the same standard. In a `console` block lines that start with `$ ` are
run, in order, in a scratch folder that holds a copy of `examples/`; what follows is their output.
A line `...` in the output stands for any lines. A `python` block that imports `assay` runs after
the commands of its page; what a `>>>` shows is what it gives.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY = "..."
WIDTH = 100


# -- pages with commands ------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A command of a page and the output that the page shows for it."""

    command: str
    output: str


def pages() -> list[Path]:
    """Every page that people read."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted([*found, *(ROOT / "src").rglob("README.md")])


def steps(block: str) -> list[Step]:
    r"""The commands of a block; a command goes on where its line ends with a backslash.

    >>> steps("$ echo \\\n> a\na\n$ true\n")
    [Step(command='echo \\\n> a', output='a\n'), Step(command='true', output='')]
    """
    found: list[Step] = []
    command: list[str] = []
    output: list[str] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                found.append(Step("\n".join(command), _lines(output)))
            command, output = [line[2:]], []
        elif command and not output and command[-1].endswith("\\"):
            command.append(line)
        else:
            output.append(line)
    if command:
        found.append(Step("\n".join(command), _lines(output)))
    return found


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in which a reader of the page could be: the samples, and nothing else."""
    with tempfile.TemporaryDirectory(prefix="assay-docs-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        for part in ("Makefile", "pyproject.toml", "src", "README.md"):
            (folder / part).symlink_to(ROOT / part)
        (folder / ".venv").symlink_to(sys.prefix)
        yield folder


def run(command: str, folder: Path) -> str:
    """Run one command of a page as its reader would, and give back all that it prints."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": str(WIDTH),
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "MAKEFLAGS": "",
        "MAKELEVEL": "",
    }
    done = subprocess.run(
        ["sh", "-c", re.sub(r"^> ", "", command, flags=re.MULTILINE)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def matches(shown: str, real: str) -> bool:
    r"""Whether the real output is what the page shows.

    >>> matches("a\n...\nd\n", "a\nb\nc\nd\n"), matches("a\n", "b\n")
    (True, False)
    """
    parts = [re.escape(line) + "\n" if line != ANY else "(.*\n)*?" for line in shown.splitlines()]
    return re.fullmatch("".join(parts), real) is not None


def refreshed(text: str) -> str:
    """The page with real outputs; output that is true already, `...` included, stays as it is."""
    if not BLOCK.search(text):
        return text
    with scratch() as folder:

        def again(block: re.Match[str]) -> str:
            lines = ["```console\n"]
            for step in steps(block[1]):
                real = run(step.command, folder)
                lines.append(f"$ {step.command}\n")
                lines.append(step.output if matches(step.output, real) else real)
            return "".join([*lines, "```"])

        return BLOCK.sub(again, text)


def _lines(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


# -- reference pages ----------------------------------------------------------------------------


def reference() -> dict[Path, str]:
    """The generated pages."""
    return {
        ROOT / "docs" / "README.md": index_page(),
        REFERENCE / "commands.md": commands_page(),
        REFERENCE / "metrics.md": metrics_page(),
    }


SECTIONS = (
    ("Learn", ("tutorial*.md",)),
    ("Do", ("how-to/*.md",)),
    ("Understand", ("explanation/*.md",)),
    ("Look up", ("reference/*.md",)),
    ("Come from another tool", ("coming-from/*.md", "quirks.md")),
    ("Metric cards", ("metrics/*.md",)),
)


def index_page() -> str:
    """All pages with their first sentences, so that each can be found from one place."""
    lines = ["# Documentation", "", "What Assay is and a first number: [README](../README.md)."]
    docs = ROOT / "docs"
    for title, patterns in SECTIONS:
        lines += ["", f"## {title}", ""]
        for page in (p for x in patterns for p in sorted(docs.glob(x), key=lambda p: p.stem)):
            heading, sentence = _opening(page.read_text(encoding="utf-8"))
            about = f": {sentence}" if sentence else ""
            lines.append(f"- [{heading}]({page.relative_to(docs)}){about}")
    return "\n".join([*lines, ""])


def _opening(text: str) -> tuple[str, str]:
    """The heading of a page, and the first sentence below it.

    >>> _opening("# Files\\n\\nA file. It has\\nlines.\\n")
    ('Files', 'A file.')
    >>> _opening("# Commands\\n\\n```text\\n")
    ('Commands', '')
    """
    heading, _, rest = text.removeprefix("# ").partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    sentence = re.split(r"(?<=\.)\s", paragraph)[0].rstrip(":")
    return heading, "" if sentence.startswith(("`" * 3, "|", "#")) else sentence


def commands_page() -> str:
    """`--help` of every command."""
    from assay.cli.root import root

    def helps(command: click.Command, context: click.Context) -> Iterator[str]:
        title = f"## `{context.command_path}`" if context.parent else "# Commands"
        yield f"{title}\n\n```text\n{context.get_help()}\n```\n"
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None, name
                yield from helps(below, _context(below, name, context))

    return "\n".join(helps(root, _context(root, "assay", None)))


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        **(command.context_settings if parent is None else {}),
    )


def metrics_page() -> str:
    """All metrics of the text families: parameters with defaults, scores, and the card of each."""
    from assay import metrics

    lines = [
        "# Metrics",
        "",
        "Any of these can be given to `--metric`, with parameters where the default does not fit:",
        "`-m 'bleu(tokenize=char)'`. The list is also what `assay metrics` prints.",
        "",
        "| metric | parameters | scores | best |",
        "| --- | --- | --- | --- |",
    ]
    for cls in metrics.builtin():
        card = ROOT / "docs" / "metrics" / f"{cls.name}.md"
        assert card.exists(), f"{card} is missing: every metric has a card"
        metric = cls()
        parameters = ", ".join(f"`{k}={v}`" for k, v in metric.parameters().items()) or "none"
        scores = ", ".join(f"`{s.name}` {s.low:g} to {s.high:g}" for s in metric.scores)
        best = {True: "high", False: "low"}
        ways = " / ".join(dict.fromkeys(best[s.higher_is_better] for s in metric.scores))
        lines.append(
            f"| [{cls.name}](../metrics/{cls.name}.md) | {parameters} | {scores} | {ways} |"
        )
    return "\n".join([*lines, ""])


def main() -> int:
    """Write what is generated, and refresh the outputs on all pages."""
    for path, text in reference().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in pages():
        text = path.read_text(encoding="utf-8")
        again = refreshed(text)
        if again != text:
            path.write_text(again, encoding="utf-8")
            print(f"refreshed {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
