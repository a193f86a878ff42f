# SPDX-License-Identifier: Apache-2.0
"""HTML and XML are parsed here, to see what a reader gets to see."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from assay.report.diff import diff_html
from assay.report.gate import gate_html
from assay.report.html import comparison_html, result_html
from assay.report.junit import gate_junit

if TYPE_CHECKING:
    from assay.report.conftest import Samples

EVIL = "</script></style></svg><img src=x onerror=alert(1)>'\"&<!--\x00\x1b[2J\u202e]]>"
ALLOWED = {
    *("div", "style", "p", "h3", "code", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("strong", "sup", "span", "bdi", "br", "em", "del", "ins"),
    *("svg", "g", "text", "path", "circle", "rect", "title"),
    *("figure", "figcaption", "details", "summary"),
}
VOID = {"br", "path", "circle"}


class Reader(HTMLParser):
    """Collects tags and text, and holds every tag to be closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def _pages(samples: Samples) -> dict[str, str]:
    result = replace(samples.result, system=EVIL, signature=EVIL, task=EVIL)
    evil_slices = {EVIL: {EVIL: next(iter(samples.result.slices["type"].values()))}}
    systems = tuple(replace(s, system=EVIL + str(i)) for i, s in enumerate(samples.pair.systems))
    names = [s.system for s in systems]
    differences = tuple(
        replace(d, system=names[1], baseline=names[0], test=EVIL) for d in samples.pair.differences
    )
    first = replace(
        samples.right_wrong.examples[0],
        id=EVIL,
        gold=EVIL,
        baseline_prediction=EVIL,
        system_prediction=[EVIL, EVIL],
    )
    checks = tuple(replace(c, slice=(EVIL, EVIL)) for c in samples.failed.checks)
    return {
        "result": result_html(replace(result, slices=evil_slices)),
        "comparison": comparison_html(
            replace(samples.pair, systems=systems, differences=differences, signature=EVIL)
        ),
        "diff": diff_html(replace(samples.right_wrong, baseline=EVIL, examples=(first,))),
        "gate": gate_html(replace(samples.failed, system=EVIL, baseline=EVIL, checks=checks)),
    }


@pytest.mark.parametrize("name", ["result", "comparison", "diff", "gate"])
def test_hostile_text_is_shown_as_text(name: str, samples: Samples) -> None:
    page = _pages(samples)[name]
    reader = _read(page)
    assert set(reader.tags) <= ALLOWED
    assert not [a for a, _ in reader.attributes if a.startswith("on") or a in ("src", "href")]
    assert "<img src=x onerror=alert(1)>" in reader.text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


@pytest.mark.parametrize("name", ["result", "comparison", "diff", "gate"])
def test_nothing_is_fetched_and_nothing_runs(name: str, samples: Samples) -> None:
    page = _pages(samples)[name].replace("http://www.w3.org/2000/svg", "")
    assert "http" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert "<script" not in page


def test_junit_has_the_usual_structure(samples: Samples) -> None:
    root = ElementTree.fromstring(gate_junit(samples.failed).encode())
    assert root.tag == "testsuites"
    (suite,) = root
    for element in (root, suite):
        assert [element.get(k) for k in ("tests", "failures", "errors", "skipped")] == [
            "8",
            "3",
            "0",
            "1",
        ]
    cases = suite.findall("testcase")
    assert len(cases) == len({(c.get("classname"), c.get("name")) for c in cases}) == 8
    assert all(c.get("time") is not None for c in cases)
    failures = [f for c in cases for f in c.findall("failure")]
    assert len(failures) == 3
    assert all(f.get("message") and f.get("type") and f.text for f in failures)
    assert len(suite.findall("testcase/skipped")) == 1


def test_junit_holds_any_text(samples: Samples) -> None:
    evil = EVIL + "\ud800\ufffe\uffff\x0b"
    checks = tuple(replace(c, slice=(evil, evil)) for c in samples.failed.checks)
    document = replace(samples.failed, system=evil, baseline=evil, checks=checks, signature=evil)
    root = ElementTree.fromstring(gate_junit(document).encode("utf-8"))
    assert "onerror" in str(root[0].get("name"))
    assert root.findall(".//img") == []
