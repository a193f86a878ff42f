# SPDX-License-Identifier: Apache-2.0
"""The report as a person meets it: opened from disk in a real Chromium that has no network.

With `--update-golden` the screenshots of docs/images are taken again. Look at them: after ten
seconds one should be able to say which system is better, and whether to believe it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import assay
from assay.cli import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

IMAGES = Path(__file__).parent.parent / "docs" / "images"
EXAMPLES = Path(__file__).parent.parent / "examples"
EVIL = "</script><img src=x onerror=\"document.title='owned'\"><b>bold</b>"


def scored(folder: Path) -> list[str]:
    """Runs of the two sample systems of `assay text`."""
    for system in ("baseline", "improved"):
        source = EXAMPLES / "text" / f"{system}.jsonl"
        given = ["text", "score", "--predictions", str(source), "--slice", "topic", "-q"]
        assert run([*given, "--save", str(folder / system)]) == 0
    return [str(folder / system) for system in ("baseline", "improved")]


@pytest.fixture(scope="module")
def picture_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report that the documentation shows."""
    folder = tmp_path_factory.mktemp("pictures")
    target = folder / "report.html"
    assert run(["report", *scored(folder), "-o", str(target), "-q"]) == 0
    return target


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with two sections; in the second a prediction is hostile."""
    folder = tmp_path_factory.mktemp("report")
    runs = scored(folder)
    gold = [f"question {i}" for i in range(40)]
    for name, right in (("old", 10), ("new", 14)):
        predictions = [g if i < right else f"wrong {i}" for i, g in enumerate(gold)]
        predictions[30] = EVIL
        assay.evaluate(
            "text", predictions, gold, metrics=["exact"], system=name, save=folder / name
        )
    target = folder / "report.html"
    runs += [str(folder / name) for name in ("old", "new")]
    assert run(["report", *runs, "-o", str(target), "-q"]) == 0
    return target


@contextmanager
def opened(browser: Browser, file: Path, **options: Any) -> Iterator[Page]:
    """The page without a network; it must say nothing in the console and ask for nothing."""
    context = browser.new_context(**options)
    context.set_offline(True)
    said: list[str] = []
    asked: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    try:
        yield page
        assert said == []
        assert asked == [file.as_uri()]
    finally:
        context.close()


def unfold(page: Page) -> None:
    """Open the examples of all sections, which fold them away where there are several."""
    for summary in page.locator("details.telling > summary").all():
        summary.click()


def visible_ids(page: Page, section: str) -> list[str]:
    cards = page.locator(f"#{section} .example:visible h4")
    return [text.split()[0] for text in cards.all_inner_texts()]


def test_the_answer_is_seen_without_scrolling(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, viewport={"width": 1200, "height": 900}) as page:
        answer = page.locator("#text-1 h2")
        assert answer.inner_text() == "improved is better than baseline"
        box = answer.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900
        assert page.title() == "Assay report: text"
        policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
        assert policy is not None
        assert policy.startswith("default-src 'none'")


def test_examples_are_filtered_searched_and_sorted(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        unfold(page)
        first = page.locator("#text-1")
        status = first.locator("[role=status]")
        assert status.inner_text() == "all 40 examples."
        first.get_by_text("baseline better 2", exact=True).click()
        assert visible_ids(page, "text-1") == ["s30", "s10"]
        assert status.inner_text() == "2 shown, out of all 40 examples."
        first.get_by_text("all", exact=True).click()
        first.get_by_label("topic", exact=True).select_option("recipes")
        assert len(visible_ids(page, "text-1")) == 12
        first.get_by_label("search", exact=True).fill("PANCAKES plum")
        assert visible_ids(page, "text-1") == ["s23"]
        first.get_by_label("search", exact=True).fill("")
        first.get_by_label("topic", exact=True).select_option("")
        first.get_by_label("sort", exact=True).select_option("loss")
        assert visible_ids(page, "text-1")[:2] == ["s30", "s10"]
        first.get_by_label("sort", exact=True).select_option("gain")
        assert visible_ids(page, "text-1")[-1] == "s30"
        # The other section has filters of its own.
        assert len(visible_ids(page, "text-2")) == 40


def test_filters_work_by_keyboard(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        page.keyboard.press("Tab")
        assert page.locator(".skip").evaluate("e => e === document.activeElement")
        assert visible_ids(page, "text-1") == []
        page.locator("#text-1 details.telling summary").focus()
        page.keyboard.press("Enter")
        assert len(visible_ids(page, "text-1")) == 40
        page.locator("#text-1 input[type=radio]").first.focus()
        page.keyboard.press("ArrowRight")
        assert len(visible_ids(page, "text-1")) == 37
        page.keyboard.press("ArrowRight")
        assert visible_ids(page, "text-1") == ["s30", "s10"]
        page.locator("#text-1 details.measured summary").focus()
        page.keyboard.press("Enter")
        assert page.get_by_text("Signature of every number").first.is_visible()


def test_tables_are_tab_stops_only_where_they_scroll(browser: Browser, page_file: Path) -> None:
    stops = """[...document.querySelectorAll('.scroll')].filter((e) => e.clientWidth).map((e) =>
        [e.hasAttribute('tabindex'), e.scrollWidth > e.clientWidth])"""
    for width in (360, 1200):
        with opened(browser, page_file, viewport={"width": width, "height": 900}) as page:
            for details in page.locator("summary").all():
                details.click()
            page.wait_for_function(f"{stops}.every(([stop, wide]) => stop === wide)")
            found = page.evaluate(stops)
            assert len(found) > 10
            assert any(wide for _, wide in found) == (width == 360)


def test_a_name_from_right_to_left_leaves_the_sentence_alone(
    browser: Browser, tmp_path: Path
) -> None:
    gold = [f"question {i}" for i in range(40)]
    for name, right in (("שרת־הבית", 40), ("other", 20)):
        predictions = [g if i < right else "" for i, g in enumerate(gold)]
        folder = tmp_path / str(right)
        assay.evaluate("text", predictions, gold, metrics=["exact"], system=name, save=folder)
    target = tmp_path / "report.html"
    assert run(["report", str(tmp_path / "40"), str(tmp_path / "20"), "-o", str(target), "-q"]) == 0
    with opened(browser, target) as page:
        places = page.locator("h2").evaluate(
            """(e) => { const text = document.createTreeWalker(e, 4).nextNode(), at = (word) => {
            const range = document.createRange(), start = text.data.indexOf(word);
            range.setStart(text, start); range.setEnd(text, start + word.length);
            return range.getBoundingClientRect().left; };
            return [at('שרת'), at('is'), at('better'), at('other')]; }"""
        )
        assert places == sorted(places)


def test_a_hostile_prediction_is_text(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        unfold(page)
        page.locator("#text-2").get_by_label("search", exact=True).fill("onerror")
        shown = page.locator("#text-2 .example:visible dd").nth(1).inner_text()
        assert EVIL.split("=")[0] in shown.replace("\n", "")
        assert page.title() == "Assay report: text"
        assert page.locator("img").count() == 0
        assert page.locator(".example b").count() == 0


def test_the_policy_stops_what_is_not_ours(browser: Browser, page_file: Path) -> None:
    """A script put into the page, as if escaping had failed, does not run."""
    spoiled = page_file.with_name("spoiled.html")
    injected = "<script>document.title='owned'</script></main>"
    text = page_file.read_text("utf-8").replace("</main>", injected, 1)
    assert injected in text
    spoiled.write_text(text, encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(spoiled.as_uri())
    assert page.title() == "Assay report: text"
    context.close()


@pytest.mark.parametrize("width", [320, 360, 768])
def test_nothing_scrolls_sideways(browser: Browser, page_file: Path, width: int) -> None:
    with opened(browser, page_file, viewport={"width": width, "height": 740}) as page:
        for details in page.locator("summary").all():
            details.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_and_light_can_be_read(browser: Browser, page_file: Path) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        with opened(browser, page_file, color_scheme=scheme) as page:
            grounds[scheme] = [
                page.evaluate(f"getComputedStyle(document.body).{name}")
                for name in ("backgroundColor", "color")
            ]
            mark = page.locator("#text-1 .chart .good").first
            grounds[scheme].append(mark.evaluate("e => getComputedStyle(e).color"))
    assert grounds["light"] == ["rgb(255, 255, 255)", "rgb(28, 32, 38)", "rgb(27, 129, 77)"]
    assert grounds["dark"] == ["rgb(21, 24, 29)", "rgb(232, 234, 237)", "rgb(79, 193, 133)"]


def test_without_scripts_all_is_there(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, java_script_enabled=False) as page:
        assert page.locator("#text-1 .example").count() == 40
        assert not page.locator("#text-1 .filters").is_visible()


def test_print_leaves_out_what_cannot_be_pressed(browser: Browser, picture_file: Path) -> None:
    with opened(browser, picture_file) as page:
        page.emulate_media(media="print")
        assert not page.locator("#text-1 .filters").is_visible()
        assert page.locator("#text-1 .example:visible").count() == 10
        said = "getComputedStyle(document.querySelector('.examples'), '::after').content"
        assert page.evaluate(said) == '"The first ten of these examples are printed."'
        assert page.locator("#text-1 h2").is_visible()
        # What is folded away on a screen is on paper, for nobody can unfold it there.
        folded = page.locator("#text-1 > details:not(.measured) td", has_text="better").first
        box = folded.bounding_box()
        assert box is not None
        assert box["height"] > 0


def test_pictures_have_words_and_numbers(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        figures = page.locator("#text-1 figure")
        assert figures.count() == 3
        for figure in figures.all():
            label = figure.locator("svg").get_attribute("aria-label")
            assert label is not None
            assert label.startswith(figure.locator("figcaption").inner_text())
            figure.locator("summary").click()
            assert figure.locator("table").is_visible()


SHOTS = [
    # name            width, height, scheme, scroll to
    ("report-light", 1200, 1250, "light", None),
    ("report-dark", 1200, 1250, "dark", None),
    ("report-examples", 1200, 900, "light", "#text-1 .filters"),
    ("report-phone", 360, 1400, "light", None),
]


@pytest.mark.parametrize("shot", SHOTS, ids=[s[0] for s in SHOTS])
def test_screenshots(
    browser: Browser, picture_file: Path, shot: Any, request: pytest.FixtureRequest
) -> None:
    name, width, height, scheme, anchor = shot
    viewport = {"width": width, "height": height}
    with opened(browser, picture_file, viewport=viewport, color_scheme=scheme) as page:
        if anchor is not None:
            page.locator(anchor).evaluate("e => e.scrollIntoView()")
        taken = page.screenshot()
    assert len(taken) > 20_000
    if request.config.getoption("--update-golden"):
        IMAGES.mkdir(parents=True, exist_ok=True)
        (IMAGES / f"{name}.png").write_bytes(taken)
    assert (IMAGES / f"{name}.png").is_file(), "run pytest --update-golden and look at it"
