# SPDX-License-Identifier: Apache-2.0
"""The judging server as a program sees it: data in, data out, and nothing that breaks it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.cli.judge_web import brief_of
from assay.judge.browser.app import LATE, judging_app
from assay.judge.store import in_force, read_store
from assay.pipeline.evaluate import evaluate
from assay.pipeline.worklist import worklist
from assay.web import Access, serving

DATA = {"accept": "application/json"}
Start = Callable[..., httpx.Client]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A server over some runs, and a client that asks for data."""
    with ExitStack() as stack:

        def call(*predictions: list[str], n: int = 6, **options: Any) -> httpx.Client:
            gold = [f"gold {i}" for i in range(n)]
            systems = predictions or ([f"said {i}" for i in range(n)],)
            runs = [
                evaluate("text", said, gold, metrics=["exact"], system=f"s{i}")
                for i, said in enumerate(systems)
            ]
            brief = brief_of(worklist(runs), tmp_path / "judgements", **options)
            app, office = judging_app(brief, Access.for_host("127.0.0.1"))
            stack.callback(office.close)
            address = stack.enter_context(serving(app))
            client = httpx.Client(base_url=address.url, headers=DATA, trust_env=False, timeout=60)
            return stack.enter_context(client)

        yield call


def come_in(client: httpx.Client, judge: str = "anna", room: str = "judge") -> None:
    door = "/start" if room == "judge" else "/settle"
    assert client.post(door, data={"name": judge}).status_code == 303


def state(client: httpx.Client, judge: str = "anna", room: str = "judge") -> Any:
    come_in(client, judge, room)
    return client.get(f"/{room}/{judge}").raise_for_status().json()


def answer(client: httpx.Client, action: str, judge: str = "anna", **fields: str) -> Any:
    asked = state(client, judge)["asked"]
    form = {"action": action, "at": asked["at"] if asked else "", **fields}
    return client.post(f"/judge/{judge}/answer", data=form).raise_for_status().json()


def test_answers_are_counted_and_kept(start: Start, tmp_path: Path) -> None:
    client = start()
    assert state(client)["progress"]["total"] == 6
    after = answer(client, "no", reason="  because ")
    assert after["progress"]["done"] == 1
    (said,) = read_store(tmp_path / "judgements").history["anna"]
    assert (said.answer, said.reason) == ("no", "because")
    assert client.get("/").json()["judges"]["anna"]["done"] == 1


def test_an_answer_to_something_else_does_not_count(start: Start, tmp_path: Path) -> None:
    client = start()
    first = state(client)["asked"]["at"]
    answer(client, "yes")
    again = client.post("/judge/anna/answer", data={"action": "no", "at": first}).json()
    assert again["note"] == LATE
    assert again["progress"]["done"] == 1
    assert len(read_store(tmp_path / "judgements").history["anna"]) == 1
    skipped = client.post("/judge/anna/skip", data={"at": first}).json()
    assert skipped["progress"]["skipped"] == 0


@pytest.mark.parametrize(
    ("method", "path", "fields", "status", "said"),
    [
        ("POST", "/judge/anna/answer", {"action": "maybe"}, 422, "there are: yes, no, unsure"),
        ("POST", "/judge/anna/dance", {}, 404, "no action 'dance'"),
        ("GET", "/judge/a b", {}, 409, "not a name for a judge"),
        ("POST", "/start", {"name": "../x"}, 409, "not a name for a judge"),
        ("POST", "/judge/anna/show", {"index": "99"}, 422, "no item 99"),
        ("GET", "/export.xml", {}, 404, "there are csv and jsonl"),
        ("GET", "/static/../app.py", {}, 404, "there is nothing at"),
        ("GET", "/static/app.py", {}, 404, "no file app.py"),
        ("GET", "/agreement", {}, 409, "at least two judges"),
        ("GET", "/judge/anna/answer", {}, 405, "not possible"),
        ("POST", "/judge/anna/answer", {"reason": "x" * 70_000}, 413, "larger than"),
    ],
)
def test_what_is_refused(
    start: Start, method: str, path: str, fields: dict[str, str], status: int, said: str
) -> None:
    client = start()
    come_in(client)
    found = client.request(method, path, data=fields or None)
    assert found.status_code == status
    assert said in found.json()["error"]


@pytest.mark.parametrize("path", ["/judge/zoe", "/review/zoe", "/adjudicate/zoe"])
def test_who_only_looks_leaves_nothing_behind(start: Start, tmp_path: Path, path: str) -> None:
    """A picture on some other site may point here; it must not sit down in anybody's place."""
    client = start()
    assert client.get(path).status_code == 404
    page = client.get(path, headers={"accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (303, "/")
    found = client.post(f"{path}/answer", data={"action": "yes"}, headers={"x-part": "1"})
    assert found.status_code in (404, 405)
    assert not list(tmp_path.glob("judgements/*"))


def test_a_full_disk_is_said_and_the_answer_can_be_given_again(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start()
    form = {"action": "yes", "at": state(client)["asked"]["at"]}

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        found = client.post("/judge/anna/answer", data=form, headers={"x-part": "1"})
    assert found.status_code == 500
    assert "No space left on device); the last answer was not kept" in found.json()["error"]
    assert state(client)["progress"]["done"] == 0
    assert answer(client, "yes")["progress"]["done"] == 1
    assert len(read_store(tmp_path / "judgements").history["anna"]) == 1


def test_a_log_that_git_has_merged_meanwhile_is_gone_on_with(start: Start, tmp_path: Path) -> None:
    client = start(order_seed=1)
    answer(client, "yes")
    path = tmp_path / "judgements" / "verdicts.anna.jsonl"
    own = path.read_text()
    elsewhere = {**json.loads(own), "id": "7", "key": "another", "time": "2026-01-01T00:00:00Z"}
    merged = own + json.dumps(elsewhere) + "\n"
    path.unlink()
    path.write_text(merged)
    after = answer(client, "no")
    assert after["progress"]["done"] == 2
    assert path.read_text().startswith(merged)
    assert len(path.read_text().splitlines()) == 3


def test_pages_of_other_sites_cannot_answer(start: Start) -> None:
    client = start()
    form = {"action": "yes", "at": state(client)["asked"]["at"]}
    found = client.post("/judge/anna/answer", data=form, headers={"origin": "http://evil.test"})
    assert found.status_code == 403
    assert state(client)["progress"]["done"] == 0


def test_pages_allow_no_script_but_ours(start: Start) -> None:
    client = start()
    come_in(client)
    found = client.get("/judge/anna", headers={"accept": "text/html"})
    policy = found.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


class Outline(HTMLParser):
    """What a page is made of, as far as a screen reader depends on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.unnamed: list[str] = []
        self._named: set[str] = set()
        self._labels = 0
        self._wanted: list[str] = []
        self.feed(text)
        self.unnamed += [id for id in self._wanted if id not in self._named]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [id for id in [given.get("id")] if id]
        if tag == "label":
            self._labels += 1
            self._named.add(given.get("for") or "")
        elif tag == "input" and given.get("type") != "hidden" and not self._labels:
            self._wanted.append(given.get("id") or "an input")
        elif tag in ("progress", "dialog") and not given.get("aria-label"):
            self.unnamed.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._labels -= tag == "label"


@pytest.mark.parametrize(
    "path",
    ["/", "/judge/anna", "/review/anna", "/agreement", "/adjudicate/carl", "/judge/a b"],
)
def test_every_field_has_a_name_and_every_id_is_one(start: Start, path: str) -> None:
    client = start()
    for judge, action in (("anna", "yes"), ("bert", "no")):
        come_in(client, judge)
        while state(client, judge)["asked"]:
            answer(client, action, judge)
    come_in(client, "carl", "adjudicate")
    page = Outline(client.get(path, headers={"accept": "text/html"}).text)
    assert len(page.ids) == len(set(page.ids))
    assert not page.unnamed


def test_judges_who_save_at_the_same_moment_lose_nothing(start: Start, tmp_path: Path) -> None:
    client = start(n=40)
    names = ["anna", "bert", "carl", "dora"]
    failed: list[BaseException] = []
    together = threading.Barrier(len(names))

    def judge(name: str) -> None:
        try:
            with httpx.Client(
                base_url=client.base_url, headers=DATA, trust_env=False, timeout=60
            ) as own:
                together.wait()
                for n in range(40):
                    answer(own, "yes" if n % 2 else "no", name)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=judge, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    store = read_store(tmp_path / "judgements")
    assert {name: len(store.judges[name]) for name in names} == dict.fromkeys(names, 40)


def test_evidence_is_shown_and_ends_the_work(start: Start) -> None:
    n = 20
    client = start(
        [f"good {i}" for i in range(n)], [f"bad {i}" for i in range(n)], n=n, until_decided=True
    )
    judged = 0
    while not (now := state(client))["decided"]:
        assert now["running"].startswith("evidence ")
        answer(client, "yes" if now["asked"]["prediction"].startswith("good") else "no")
        judged += 1
    assert now["running"].startswith("decided: s0 is better than s1 (evidence 2")
    assert judged < 2 * n
    page = client.get("/judge/anna", headers={"accept": "text/html"}).text
    assert "<h2>Decided</h2>" in page


def test_every_page_of_a_judge_comes_as_data_too(start: Start) -> None:
    client = start(n=2, order_seed=1)
    come_in(client)
    assert client.get("/review/anna").json() == {"judge": "anna", "answers": []}
    at = state(client)["asked"]["at"]
    client.post("/judge/anna/skip", data={"at": at, "reason": " too vague "}).raise_for_status()
    answer(client, "no", reason="because")
    (first, second) = client.get("/review/anna").json()["answers"]
    said = {"judge": "anna", "answer": "skip", "reason": "too vague"}
    assert (first["index"], first["answers"]) == (0, {"correct": said})
    assert second["answers"]["correct"]["answer"] == "no"
    page = client.get("/judge/anna", headers={"accept": "text/html"}).text
    assert "Your answer so far: skip (too vague)" in page
    for name, said_now in (("anna", "no"), ("bert", "yes")):
        while state(client, name)["asked"]:
            answer(client, said_now, name, reason=f"says {name}")
    asked = state(client, "carl", "adjudicate")["asked"]
    assert asked["said"] == [
        {"judge": "anna", "answer": "no", "reason": asked["said"][0]["reason"]},
        {"judge": "bert", "answer": "yes", "reason": "says bert"},
    ]


def test_an_adjudicator_gets_new_disagreements_too(start: Start) -> None:
    client = start(n=4, order_seed=1)

    def differ() -> None:
        for name, said in (("anna", "yes"), ("bert", "no")):
            answer(client, said, name)

    def settle() -> int:
        settled = 0
        while (now := state(client, "carl", "adjudicate"))["asked"] is not None:
            form = {"action": "yes", "at": now["asked"]["at"]}
            client.post("/adjudicate/carl/answer", data=form).raise_for_status()
            settled += 1
        return settled

    assert settle() == 0
    differ()
    assert settle() == 1
    differ()
    differ()
    assert settle() == 2
    assert client.get("/agreement").json()["unsettled"] == 0


def test_who_is_asked_to_settle_comes_in_where_others_are_heard(start: Start) -> None:
    client = start(n=2, order_seed=1, adjudicate=True)
    page = client.post("/start", data={"name": "carl"}, headers={"accept": "text/html"})
    assert page.headers["location"] == "/adjudicate/carl"
    for name, said in (("anna", "yes"), ("bert", "no")):
        come_in(client, name)
        asked = client.get(f"/judge/{name}").json()["asked"]  # who judges still can, on their own
        form = {"action": said, "at": asked["at"]}
        client.post(f"/judge/{name}/answer", data=form).raise_for_status()
    found = client.get("/adjudicate/carl").json()
    said_by = [v["judge"] for v in found["asked"]["said"]]
    assert (said_by, found["progress"]["total"]) == (["anna", "bert"], 1)
    assert "/adjudicate/carl" in client.get("/", headers={"accept": "text/html"}).text


def test_judges_who_are_there_at_the_same_time_share_the_work(start: Start) -> None:
    client = start(n=8, overlap=1)
    done = 0
    for _ in range(4):
        for name in ("anna", "bert"):
            now = state(client, name)
            if now["asked"] is not None and now["left"]:
                done += 1
                answer(client, "yes", name)
    both = [state(client, name)["progress"] for name in ("anna", "bert")]
    while (now := state(client, "anna"))["left"]:
        answer(client, "yes", "anna")
        done += 1
    assert done <= 10  # of 16; what the one answers may be on the table of the other just then
    assert all(p["done"] + p["spared"] + p["deciding"] == p["total"] for p in both)
    assert state(client, "bert")["left"] == 0
    page = client.get("/judge/anna", headers={"accept": "text/html"}).text
    assert "not needed" in page


def test_only_what_can_change_a_score_is_asked(tmp_path: Path) -> None:
    said = [{"id": f"q{n}", "predictions": ["head -1 a", "tail -1 a", "cat a"]} for n in range(3)]
    gold = [{"id": f"q{n}", "nl": f"line {n}", "references": ["sed -n 1p a"]} for n in range(3)]
    run = evaluate("commands", said, gold, num_examples=0)
    brief = brief_of(worklist([run]), tmp_path / "judgements", deciding="only")
    app, office = judging_app(brief)
    with (
        serving(app) as address,
        httpx.Client(base_url=address.url, headers=DATA, timeout=60) as client,
    ):
        assert state(client)["progress"]["deciding"] == 9
        for n in range(3):  # rank 1 comes first; it is right, structure and command
            assert state(client)["asked"]["prediction"] == "head -1 a"
            answer(client, "yes")
            after = answer(client, "yes")
            assert (after["progress"]["done"], after["progress"]["spared"]) == (n + 1, 2 * n + 2)
        assert (after["asked"], after["left"]) == (None, 0)
        page = client.get("/judge/anna", headers={"accept": "text/html"}).text
        assert "3 of 9 done · 6 not needed" in page
    office.close()


def test_exports(start: Start) -> None:
    client = start()
    answer(client, "yes")
    sheet = client.get("/export.csv")
    assert sheet.headers["content-type"].startswith("text/csv")
    assert sheet.text.count("\n") == 2
    lines = client.get("/export.jsonl").text.splitlines()
    assert len(lines) == 6
    assert sum(json.loads(line)["final"]["correct"] is True for line in lines) == 1


ACTIONS = ("answer", "skip", "undo", "redo", "back", "next", "show", "")
FIELDS = st.dictionaries(
    st.sampled_from(["action", "at", "reason", "index", "name"]),
    st.one_of(
        st.sampled_from(["yes", "no", "unsure", "0", "5", "|correct|x"]), st.text(max_size=20)
    ),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["/judge/anna/", "/judge/ä/", "/adjudicate/anna/", "/judge/%00/", "/"]),
    st.one_of(st.sampled_from(ACTIONS), st.text(max_size=5)),
    FIELDS,
    st.sampled_from(["application/json", "text/html"]),
)
def test_nothing_that_is_sent_breaks_the_server(
    running: httpx.Client, path: str, action: str, fields: dict[str, str], accept: str
) -> None:
    from urllib.parse import quote

    target = path + quote(action, safe="")
    found = running.post(target, data=fields, headers={"accept": accept})
    assert found.status_code < 500, found.text


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("server")
    run = evaluate("text", [f"said {i}" for i in range(5)], ["gold"] * 5, metrics=["exact"])
    app, office = judging_app(brief_of(worklist([run]), folder / "judgements"))
    with (
        serving(app) as address,
        httpx.Client(base_url=address.url, trust_env=False, timeout=60) as client,
    ):
        for name in ("anna", "\u00e4"):
            come_in(client, name)
        come_in(client, "anna", "adjudicate")
        yield client
        history = read_store(folder / "judgements").history
        assert all(in_force(verdicts) is not None for verdicts in history.values())
    office.close()
