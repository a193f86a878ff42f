# SPDX-License-Identifier: Apache-2.0
"""Judging in a real browser: by keys, by several people, through a kill of the server."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.cli import run
from assay.judge.store import in_force, read_store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"

TASKS = [
    # asked for, gold, predicted
    ("list all files, hidden ones too", "ls -a", "ls -la"),
    ("count the lines of notes.txt", "wc -l notes.txt", "cat notes.txt | wc -l"),
    ("show the last ten lines of log", "tail log", "tail -n 10 log"),
    ("remove the empty folder old", "rmdir old", "rm -rf old"),
    ("how much room is left on the disk", "df -h", "du -sh"),
    ("sort names.txt without repeats", "sort -u names.txt", "sort names.txt | uniq"),
    ("make the folder a/b/c", "mkdir -p a/b/c", "mkdir a/b/c"),
    ("find files larger than 1 MB", "find . -size +1M", "find . -size 1M"),
    ("who am i", "whoami", "<script>document.title='owned'</script>"),
    ("copy a to b, keeping its times", "cp -p a b", "cp a b"),
    ("print the third column of t.tsv", "cut -f3 t.tsv", "awk '{print $3}' t.tsv"),
    ("replace foo by bar in f", "sed -i s/foo/bar/g f", "sed s/foo/bar/ f"),
]


def save_run(tasks: Sequence[tuple[str, str, str]], folder: Path) -> Path:
    data = folder / "data.jsonl"
    lines = (
        json.dumps({"id": f"q{n:02}", "question": asked, "gold": gold, "prediction": said})
        for n, (asked, gold, said) in enumerate(tasks)
    )
    data.write_text("".join(f"{line}\n" for line in lines))
    arguments = ["text", "score", "--predictions", str(data), "--gold", str(data), "-m", "chrf"]
    assert run([*arguments, "--save", str(folder / "run"), "--quiet"]) == 0
    return folder / "run"


@pytest.fixture
def saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A run of twelve examples, none of them as gold has it."""
    folder = save_run(TASKS, tmp_path)
    capsys.readouterr()
    return folder


class Server:
    """The real command in a process of its own."""

    def __init__(self, run: Path, *options: str) -> None:
        command = [sys.executable, "-m", "assay", "judge", str(run), "--web", *options]
        if "--port" not in options:
            command += ["--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"judging at (http://\S+)\n", line)
        assert found, line
        self.url = found[1].rstrip("/")
        self.port = self.url.rpartition(":")[2].partition("/")[0]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextmanager
def serving(run: Path, *options: str) -> Iterator[Server]:
    server = Server(run, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1000, "height": 760})
    yield context.new_page()
    context.close()


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Keep a picture of the page for the documentation, with `--update-golden`."""

    def keep(page: Page, name: str) -> None:
        if request.config.getoption("--update-golden"):
            IMAGES.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=IMAGES / f"judge-{name}.png")

    return keep


def enter(page: Page, server: Server, name: str) -> None:
    page.goto(server.url)
    page.fill("#name", name)
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-ready] #work .question, html[data-ready] #work .done")


def press(page: Page, key: str) -> None:
    """A key, and the answer of the server to it."""
    before = int(page.locator("html").get_attribute("data-answers") or "0")
    page.keyboard.press(key)
    answered(page, before + 1)


def answered(page: Page, n: int) -> None:
    page.wait_for_selector(f'html[data-answers="{n}"]', state="attached")


def progress(page: Page) -> str:
    return page.inner_text("#progress")


def kept(run: Path, judge: str) -> dict[str, str]:
    store = read_store(run.parent / "judgements")
    return {v.id: v.answer for v in in_force(store.history.get(judge, [])).values()}


def test_ten_items_by_keys_undo_kill_and_resume(saved: Path, page: Page) -> None:
    with serving(saved) as server:
        enter(page, server, "anna")
        assert progress(page).startswith("0 of 12 done")
        for n, key in enumerate("ynuynyynyn", start=1):
            press(page, key)
            assert progress(page).startswith(f"{n} of 12 done")
            assert len(kept(saved, "anna")) == n  # on disk before the page says so
        first = page.inner_text(".prediction pre")
        press(page, "z")
        assert progress(page).startswith("9 of 12 done")
        assert len(kept(saved, "anna")) == 9
        press(page, "r")
        assert page.inner_text(".prediction pre") == first
        press(page, "z")
        here = page.inner_text(".prediction pre")
        before = kept(saved, "anna")
        server.kill()

        page.keyboard.press("y")  # nobody is there: said, not lost in silence
        page.wait_for_selector("#trouble:not([hidden])")
        assert "does not answer" in page.inner_text("#trouble")
        assert kept(saved, "anna") == before
        with serving(saved, "--port", server.port) as again:
            press(page, "y")  # the same page goes on with the new server
            assert page.is_hidden("#trouble")
            assert progress(page).startswith("10 of 12 done")
            assert {i: a for i, a in kept(saved, "anna").items() if i in before} == before
            enter(page, again, "anna")  # and so does a new one
            assert progress(page).startswith("10 of 12 done")
            press(page, "z")
            assert page.inner_text(".prediction pre") == here  # undo reaches over the restart
            for key in "yyn":
                press(page, key)
            assert "All answered" in page.inner_text(".done")
            assert len(kept(saved, "anna")) == 12


def test_two_judges_at_the_same_time(saved: Path, browser: Browser) -> None:
    with serving(saved) as server:
        contexts = [browser.new_context() for _ in range(2)]
        pages = [context.new_page() for context in contexts]
        orders: list[list[str]] = [[], []]
        for page, name in zip(pages, ("anna", "bert"), strict=True):
            enter(page, server, name)
        for step in range(12):
            for page, order in zip(pages, orders, strict=True):
                order.append(page.inner_text(".asked pre"))
            for page in pages:  # both keys are pressed before either answer is waited for
                page.keyboard.press("y" if step % 3 else "n")
            for page in pages:
                answered(page, step + 1)
        assert orders[0] != orders[1]
        assert sorted(orders[0]) == sorted(orders[1])
        assert len(kept(saved, "anna")) == len(kept(saved, "bert")) == 12
        for context in contexts:
            context.close()


def test_markup_in_a_prediction_is_text(saved: Path, page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    with serving(saved) as server:
        page.goto(server.url)
        page.fill("#name", "<b>")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=That did not work")
        assert "not a name for a judge" in page.inner_text("main")
        enter(page, server, "anna")
        seen = []
        for _ in range(12):
            seen.append(page.inner_text(".prediction pre"))
            press(page, "y")
        assert TASKS[8][2] in seen
        page.goto(f"{server.url}/review/anna")
        assert TASKS[8][2] in page.inner_text("table")
        assert "owned" not in page.title()
        assert not asked


def test_the_page_is_readable_on_a_phone(
    saved: Path, browser: Browser, picture: Callable[[Page, str], None]
) -> None:
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    with serving(saved, "--order-seed", "4") as server:
        enter(page, server, "anna")
        for path in ("/", "/judge/anna", "/review/anna", "/agreement"):
            page.goto(server.url + path)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 360, f"{path} is {wide} wide"
        page.goto(f"{server.url}/judge/anna")
        page.wait_for_selector("html[data-ready]")
        buttons = page.locator(".answers button")
        for n in range(3):
            box = buttons.nth(n).bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["y"] + box["height"] < 740  # in reach without scrolling
        picture(page, "phone")
        buttons.nth(0).tap()
        page.wait_for_selector("text=1 of 12 done")
    context.close()
    assert list(kept(saved, "anna").values()) == ["yes"]


def test_long_words_and_flags_on_a_phone(tmp_path: Path, browser: Browser) -> None:
    flags = (
        "find /home/tim -mtime -7 -type f -not -path '*/cache/*' -newer a --ignore-case "
        "--twenty-four-letters-xx -print0"
    )
    tasks = [("do x", "ls", f"frob-{'x' * 300} -{'y' * 300}"), ("find", flags, f"{flags} -quit")]
    run = save_run(tasks, tmp_path)
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    wide = "document.documentElement.scrollWidth"
    rows = "[...document.querySelectorAll('.flag')].map(e => e.getClientRects().length)"
    with serving(run) as server:
        enter(page, server, "anna")
        seen = []
        for _ in tasks:
            assert page.evaluate(wide) == 360
            seen += page.evaluate(rows)
            press(page, "n")
        assert set(seen) == {1}  # `-path` is not cut into a dash here and `path` on the next line
        assert len(seen) > 14
        page.goto(f"{server.url}/review/anna")
        assert page.evaluate(wide) == 360
    context.close()


def test_a_key_that_is_held_down_is_one_answer(saved: Path, page: Page) -> None:
    with serving(saved) as server:
        enter(page, server, "anna")
        for _ in range(5):
            page.keyboard.down("y")
        answered(page, 1)
        page.keyboard.up("y")
        press(page, "n")
        assert sorted(kept(saved, "anna").values()) == ["no", "yes"]


def test_a_reason_guidelines_back_and_change(
    saved: Path, page: Page, picture: Callable[[Page, str], None]
) -> None:
    ready_made = "wrong tool,wrong flag,too much"
    with serving(saved, "--order-seed", "4", "--reasons", ready_made) as server:
        enter(page, server, "anna")
        picture(page, "item")
        page.keyboard.press("g")
        assert page.is_visible("dialog")
        assert "careful person" in page.inner_text("dialog")
        page.keyboard.press("g")
        assert page.is_hidden("dialog")
        page.keyboard.press("c")
        page.keyboard.type("yes but not here")  # letters in a reason are no answers
        page.keyboard.press("Enter")
        press(page, "n")
        (only,) = read_store(saved.parent / "judgements").history["anna"]
        assert (only.answer, only.reason) == ("no", "yes but not here")
        page.keyboard.press("2")
        press(page, "n")
        assert read_store(saved.parent / "judgements").history["anna"][-1].reason == "wrong flag"
        press(page, "z")
        press(page, "s")
        assert "1 skipped" in progress(page)
        press(page, "b")
        press(page, "b")
        assert "Your answer so far: no" in page.inner_text(".question")
        press(page, "y")
        assert list(kept(saved, "anna").values()).count("yes") == 1
        page.goto(f"{server.url}/review/anna")
        page.click("text=Change >> nth=0")
        page.wait_for_selector(".question")
        assert "Your answer so far: yes" in page.inner_text(".question")


def test_disagreements_are_settled_side_by_side(
    saved: Path, page: Page, picture: Callable[[Page, str], None]
) -> None:
    answers = {"anna": "yynnyyunnyyn", "bert": "ynnyyyynnyyn"}
    with serving(saved, "--order-seed", "4") as server:
        for judge, keys in answers.items():
            enter(page, server, judge)
            for key in keys:
                if key == "n":
                    page.keyboard.press("c")
                    page.keyboard.type(
                        "not what was asked" if judge == "anna" else "would surprise me"
                    )
                    page.keyboard.press("Enter")
                press(page, key)
        page.goto(f"{server.url}/agreement")
        text = page.inner_text("main")
        assert "Krippendorff" in text
        assert "3 to settle" in text  # two they differ on, and one anna is unsure about
        picture(page, "agreement")
        data = fetched(page, f"{server.url}/agreement")
        assert data["schema"] == "assay.agreement/1"
        # 11 items that both decided; they differ on two.
        assert data["questions"]["correct"]["coefficients"]["percent"]["value"] == pytest.approx(
            9 / 11
        )
        page.fill("#name", "anna")
        page.click("text=Settle disagreements")
        page.wait_for_selector("text=You are one of those who differ; a third person should settle")
        page.goto(f"{server.url}/agreement")
        page.fill("#name", "carl")
        page.click("text=Settle disagreements")
        page.wait_for_selector("html[data-ready] .others")
        assert page.locator(".said").count() == 2
        picture(page, "settle")
        for key in "yyn":
            press(page, key)
        assert "All answered" in page.inner_text(".done")
        assert fetched(page, f"{server.url}/agreement")["unsettled"] == 0
        lines = page.evaluate("fetch('/export.jsonl').then(r => r.text())").splitlines()
        assert [json.loads(line)["final"]["correct"] for line in lines].count(None) == 0
        sheet = page.evaluate("fetch('/export.csv').then(r => r.text())")
        assert sheet.startswith("description,prediction,template,correct template,correct command,")


def fetched(page: Page, url: str) -> Any:
    script = "url => fetch(url, {headers: {accept: 'application/json'}}).then(r => r.json())"
    return page.evaluate(script, url)


def test_from_button_to_button_by_keyboard(saved: Path, page: Page) -> None:
    """Tab and Enter alone: the focus stays on the button whose answer was given."""
    with serving(saved) as server:
        enter(page, server, "anna")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        focused = "document.activeElement.dataset.action"
        assert page.evaluate(focused) == "no"
        press(page, "Enter")
        press(page, "Enter")
        assert page.evaluate(focused) == "no"
        assert sorted(kept(saved, "anna").values()) == ["no", "no"]
        press(page, "y")  # keys work wherever the focus is
        assert sorted(kept(saved, "anna").values()) == ["no", "no", "yes"]


def test_it_works_without_the_script(saved: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with serving(saved) as server:
        page.goto(server.url)
        page.fill("#name", "anna")
        page.click("text=Start")
        for n in range(1, 4):
            page.click(".answers .yes")
            page.wait_for_selector(f"text={n} of 12 done")
        page.click("text=Undo")
        page.wait_for_selector("text=2 of 12 done")
    context.close()
    assert len(kept(saved, "anna")) == 2


def test_a_name_that_is_in_use_elsewhere_is_refused(saved: Path, page: Page) -> None:
    from assay.judge.log import VerdictLog

    with serving(saved) as server, VerdictLog(saved.parent / "judgements", "anna"):
        page.goto(server.url)
        page.fill("#name", "anna")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=somebody is judging as 'anna' already")
        enter(page, server, "bert")


def test_the_token_does_not_stay_in_the_address(saved: Path, page: Page) -> None:
    with serving(saved, "--token", "open-sesame") as server:
        base = server.url.partition("/?")[0]
        refused = page.goto(base)
        assert refused is not None
        assert refused.status == 401
        page.goto(server.url)
        page.wait_for_function("!location.search")
        page.fill("#name", "anna")
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-ready] #work .question")
        press(page, "y")
        assert page.url == f"{base}/judge/anna"


def test_a_stopped_server_ends_well(saved: Path) -> None:
    server = Server(saved)
    assert server.stop() == 0
