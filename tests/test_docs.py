# SPDX-License-Identifier: Apache-2.0
"""What the documentation says is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import generate

PYTHON = re.compile(r"^```python\n((?:>>> )?import assay\b.*?)^```$", re.MULTILINE | re.DOTALL)
IN_PYTHON = [page for page in generate.pages() if PYTHON.search(page.read_text("utf-8"))]
PAGES = [page for page in generate.pages() if generate.BLOCK.search(page.read_text("utf-8"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)\s]*)?\)")


def named(page: Path) -> str:
    return str(page.relative_to(generate.ROOT))


def test_there_are_pages_with_commands() -> None:
    assert generate.ROOT / "README.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    with generate.scratch() as folder:
        for block in generate.BLOCK.finditer(page.read_text("utf-8")):
            for step in generate.steps(block[1]):
                real = generate.run(step.command, folder)
                assert generate.matches(step.output, real), (
                    f"$ {step.command}\n{real}\nis not what the page shows; `make docs` mends it"
                )


@pytest.mark.parametrize("page", IN_PYTHON, ids=named)
def test_what_is_said_in_python_runs(page: Path) -> None:
    """After the commands of the page, all in one session; what a `>>>` shows is what it gives."""
    text = page.read_text("utf-8")
    with generate.scratch() as folder:
        for block in generate.BLOCK.finditer(text):
            for step in generate.steps(block[1]):
                generate.run(step.command, folder)
        code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        (folder / "session.txt").write_text(code, encoding="utf-8")
        how = "-m doctest -o ELLIPSIS session.txt" if ">>> " in code else "session.txt >/dev/null"
        assert generate.run(f"python {how}", folder) == ""


@pytest.mark.parametrize("path", generate.reference(), ids=named)
def test_reference_pages_are_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == generate.reference()[path], "run `make docs`"


def test_every_page_is_in_the_list_of_all_pages() -> None:
    index = generate.index_page()
    pages = (generate.ROOT / "docs").rglob("*.md")
    names = [str(page.relative_to(generate.ROOT / "docs")) for page in pages]
    assert [n for n in names if f"({n})" not in index] == ["README.md"]


@pytest.mark.parametrize("page", generate.pages(), ids=named)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target, _ in LINK.findall(page.read_text("utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_metric_has_a_card() -> None:
    from assay import metrics

    cards = {card.stem for card in (generate.ROOT / "docs" / "metrics").glob("*.md")}
    assert {cls.name for cls in metrics.builtin()} <= cards
