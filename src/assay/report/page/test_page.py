# SPDX-License-Identifier: Apache-2.0
"""The page as text: parsed, hostile, large; what it does in a browser is tested elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.document import InputFile
from assay.report.conftest import BLEU, EXACT, HOSTILE, LONG
from assay.report.examples import examples_html, shown_texts
from assay.report.forms import report_text
from assay.report.html import table_html
from assay.report.page import report_page
from assay.report.page.section import section_html
from assay.report.sections import (
    KINDS,
    ReportDocument,
    Section,
    Telling,
    TellingExample,
    told_apart,
)
from assay.report.tables import Cell, Table, left, right
from assay.report.words import cut_by, merged

if TYPE_CHECKING:
    from assay.report.conftest import Samples

GOLDEN = Path(__file__).parent / "golden"
VOID = {"meta", "br", "input", "path", "circle", "rect", "link", "img"}


def telling(gold: Any = "the cat sat", evil: str = HOSTILE) -> Telling:
    def example(name: str, kind: Any, scores: tuple[float, float], *texts: Any) -> TellingExample:
        return TellingExample(
            name, kind, scores, scores[1] - scores[0], texts, gold, {"type": "simple"}
        )

    return Telling(
        systems=("small_50%", "large & slow"),
        score=EXACT,
        right_wrong=True,
        pair=(0, 1),
        counts={"lost": 43, "won": 61, "both wrong": 900, "both right": 200},
        examples=(
            example("s1", "lost", (1.0, 0.0), "the cat sat", "the old cat"),
            replace(example("s2", "won", (0.0, 1.0), evil, "the cat sat"), slices={"type": LONG}),
            example("行3", "both wrong", (0.0, 0.0), None, ["東京", "b", "c", "d"]),
            example("s4", "both right", (1.0, 1.0), "the cat sat", "the cat sat"),
        ),
        tokens=lambda text: None,
    )


def section(samples: Samples) -> Section:
    pair = samples.pair
    return Section("text", pair.systems, pair, telling(), ("runs/a", "runs/b"), ("a b", "../b"))


def report(samples: Samples) -> ReportDocument:
    alone = Section("text", (samples.result,))
    empty = Section("text", (samples.empty,), remarks=("nothing was scored",))
    return ReportDocument("Mine & <yours>", (section(samples), alone, empty), "assay report", "1.0")


class Reader(HTMLParser):
    """Collects tags, attributes and text; every tag must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_golden_section(samples: Samples, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "section.html", section_html(section(samples), 0, 100_000))


def test_examples_are_folded_where_there_are_several_sections(samples: Samples) -> None:
    one = ReportDocument("Mine", (section(samples),))
    assert "<h3>Examples</h3>" in report_page(one)
    folded = '<details class="telling"><summary><h3>Examples (4)</h3></summary>'
    assert folded not in report_page(one)
    assert folded in report_page(report(samples))


@pytest.mark.parametrize(("format", "ending"), [("markdown", "md"), ("latex", "tex")])
def test_golden_text(
    format: str, ending: str, samples: Samples, golden: Callable[[Path, str], None]
) -> None:
    golden(GOLDEN / f"report.{ending}", report_text(report(samples), format))


def test_the_policy_names_what_the_page_holds(samples: Samples) -> None:
    page = report_page(report(samples))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_nothing_is_fetched_and_no_attribute_runs(samples: Samples) -> None:
    page = report_page(report(samples))
    reader = Reader(page)
    assert reader.tags.count("script") == reader.tags.count("style") == 1
    assert not {"img", "link", "iframe", "object"} & set(reader.tags)
    for tag, name, value in reader.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "style", "action"), (tag, name)
        if name == "href":
            assert tag == "a"
            assert value is not None
            assert not re.match(r"[a-z]+:|//", value), value
    assert "url(" not in page
    assert "@import" not in page


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _mixed(colour: str, ground: str, opacity: float) -> str:
    pairs = [(int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in pairs)


PAIRS = [
    # words           colour, opacity, ground, at least
    ("text",          "text",       1.0,  "ground", 4.5),
    ("text on boxes", "text",       1.0,  "soft",   4.5),
    ("asides",        "text",       0.63, "ground", 4.5),  # .75 within a term of .85
    ("struck out",    "text",       0.72, "ground", 4.5),
    ("links",         "link",       1.0,  "ground", 4.5),
    ("good",          "good-text",  1.0,  "good",   4.5),
    ("bad",           "bad-text",   1.0,  "bad",    4.5),
    ("open",          "wait-text",  1.0,  "wait",   4.5),
    ("better",        "assay-good", 1.0,  "ground", 4.5),
    ("worse",         "assay-bad",  1.0,  "ground", 4.5),
    ("edges",         "line",       1.0,  "soft",   3.0),
]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("pair", PAIRS, ids=[p[0] for p in PAIRS])
def test_colours_can_be_told_from_their_ground(pair: Any, scheme: str, samples: Samples) -> None:
    (sheet,) = re.findall(r"<style>(.*?)</style>", report_page(report(samples)), re.DOTALL)
    grounds = re.findall(r":root\{(.*?)\}", sheet, re.DOTALL)
    found: dict[str, str] = {}
    for block in grounds[: ["light", "dark"].index(scheme) + 1]:
        found |= dict(re.findall(r"--([a-z0-9-]+):(#[0-9a-f]+)", block))
    colours = {
        k: v if len(v) == 7 else f"#{''.join(2 * c for c in v[1:])}" for k, v in found.items()
    }
    _, colour, opacity, ground, least = pair
    seen = _mixed(colours[colour], colours[ground], opacity)
    low, high = sorted((_luminance(seen), _luminance(colours[ground])))
    assert (high + 0.05) / (low + 0.05) >= least


def test_hostile_text_is_shown_as_text(samples: Samples) -> None:
    evil = "</script><img src=x onerror=alert(1)>'\"&<!--\x00\x1b[2J\u202e]]>"
    one = section(samples)
    systems = tuple(replace(s, system=evil + str(i)) for i, s in enumerate(one.systems))
    names = [s.system for s in systems]
    compared = samples.pair
    differences = tuple(
        replace(d, system=names[1], baseline=names[0]) for d in compared.differences
    )
    shown = telling(gold=[evil, evil], evil=evil)
    shown = replace(
        shown,
        systems=tuple(names),
        examples=tuple(
            replace(e, id=evil, slices={evil: evil + str(i)}) for i, e in enumerate(shown.examples)
        ),
    )
    document = ReportDocument(
        evil,
        (
            replace(
                one,
                task=evil,
                systems=systems,
                comparison=replace(compared, systems=systems, differences=differences),
                telling=shown,
                folders=(evil, evil),
                links=(evil, evil),
                remarks=(evil,),
            ),
        ),
        evil,
        evil,
        (evil,),
    )
    page = report_page(document)
    reader = Reader(page)
    assert "img" not in reader.tags
    assert reader.tags.count("script") == 1
    assert "<img src=x onerror=alert(1)>" in reader.text
    assert not re.search("[\x00-\x08\x0b\x1b\x7f-\x9f\u202a-\u202e]", page)
    ids = [value for _, name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for text in (report_text(document, "markdown"), report_text(document, "latex")):
        assert "\x1b" not in text
        assert not re.search(r"(?<!\\)<img", re.sub("`[^`]*`", "", text))


def test_headings_and_names_are_there_for_screen_readers(samples: Samples) -> None:
    reader = Reader(report_page(report(samples)))
    levels = [int(tag[1]) for tag in reader.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert {"main", "header", "footer", "nav"} <= set(reader.tags)
    charts = [v for tag, name, v in reader.attributes if tag == "svg" and name == "aria-label"]
    assert charts
    assert all(charts)
    assert ("html", "lang", "en") in reader.attributes


def test_the_tail_of_a_long_table_is_folded_and_not_lost(samples: Samples) -> None:
    many = replace(samples.result, scores={f"score {i}": i / 30 for i in range(30)})
    text = section_html(Section("text", (many,)), 0, 9_000)
    assert "<summary>20 more rows</summary>" in text
    assert all(f">score {i}</td>" in text for i in range(30))
    few = replace(samples.result, scores={f"score {i}": i / 30 for i in range(16)})
    assert "more rows" not in section_html(Section("text", (few,)), 0, 9_000)


def test_examples_stop_where_the_room_ends() -> None:
    long = telling()
    many = replace(long, examples=long.examples * 500)
    text = examples_html(many, "a", 50_000)
    assert 40_000 < len(text.encode()) < 53_000
    shown = text.count("<article")
    assert f"{shown:,} telling examples of 1,204" in text


def test_long_texts_are_cut_and_say_so() -> None:
    one = telling(gold="word " * 2000)
    assert "(10,000 characters)" in examples_html(one, "a", 100_000)


def test_what_differs_is_marked() -> None:
    text = examples_html(telling(), "a", 100_000)
    assert "<dd>the <ins>old</ins> cat <del>sat</del></dd>" in text
    assert '<dd>the cat sat <span class="good same" title="as gold">✓</span></dd>' in text
    assert "<dd><em>missing</em></dd>" in text
    assert "and 1 more" in text


def test_the_nearest_reference_is_the_one_held_against() -> None:
    one = telling(gold=["a b c d e", "the old dog"])
    assert "the old <del>dog</del> <ins>cat</ins>" in examples_html(one, "a", 100_000)


def test_a_graded_score_shows_its_value() -> None:
    one = replace(telling(), score=BLEU, right_wrong=False)
    assert "bleu (%) 1.00" in examples_html(one, "a", 100_000)


SHOWN = [
    # name        value                                     texts
    ("text",      "a",                                      ["a"]),
    ("candidates", ["a", "b"],                              ["a", "b"]),
    ("nothing",   None,                                     []),
    ("fields",    {"t": ["a", "b"], "y": None, "n": 3},     ["t: a; b\ny: \nn: 3"]),
    ("nested",    {"a": {"b": 1}},                          ['a: {"b": 1}']),
]  # fmt: skip


@pytest.mark.parametrize(("value", "texts"), [s[1:] for s in SHOWN], ids=[s[0] for s in SHOWN])
def test_values_as_texts(value: Any, texts: list[str]) -> None:
    assert shown_texts(value) == texts


@given(st.text(max_size=40), st.text(max_size=40))
def test_pieces_hold_both_texts(first: str, second: str) -> None:
    for split in (None, cut_by(str.split), cut_by(lambda text: None), cut_by(list)):
        pieces = merged(first, second, split)
        assert "".join(p.text for p in pieces if p.kind != "inserted") == first
        assert "".join(p.text for p in pieces if p.kind != "deleted") == second


def test_all_kinds_have_a_look() -> None:
    one = telling()
    for kind in KINDS:
        example = replace(one.examples[0], kind=kind)
        assert kind in examples_html(replace(one, examples=(example,)), "a", 9_000)


def test_sections_of_one_task_have_names_of_their_own(samples: Samples) -> None:
    pair, alone = section(samples), Section("text", (samples.result,))
    named = [s.name for s in told_apart([pair, alone])]
    assert named == ["text (small_50%, large & slow)", "text (系统三 | best)"]
    files = [
        replace(
            alone, systems=(replace(samples.result, inputs=(InputFile("gold", f"a/{x}.txt", ""),)),)
        )
        for x in ("de", "fr")
    ]
    assert [s.name for s in told_apart(files)] == ["text (de.txt)", "text (fr.txt)"]
    assert [s.name for s in told_apart([alone, alone])] == ["text (part 1)", "text (part 2)"]
    assert [s.name for s in told_apart([alone])] == ["text"]


def test_boxes_that_scroll_have_names(samples: Samples) -> None:
    page = report_page(report(samples))
    boxes = re.findall(r'<div class="scroll"([^>]*)>', page)
    assert boxes
    assert all(re.search(r' role="group" aria-label="[^"]+" tabindex="0"', box) for box in boxes)


def test_headings_are_in_order(samples: Samples) -> None:
    levels = [
        int(tag[1])
        for tag in Reader(report_page(report(samples))).tags
        if re.fullmatch("h[1-6]", tag)
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_long_names_may_break_and_numbers_line_up() -> None:
    name = "a_system_with_a_name_that_has_no_place_to_break"
    table = Table(
        "",
        (*left("score"), *right(name)),
        ((Cell("bleu"), Cell("1", marks="ab")), (Cell("ter"), Cell("2"))),
    )
    shown = table_html(table, "Numbers")
    assert f'<th class="num long" scope="col">{name}</th>' in shown
    assert '1<sup class="w2">ab</sup>' in shown
    assert '2<sup class="w2"></sup>' in shown
    assert 'aria-label="Numbers"' in shown
