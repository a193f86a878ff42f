# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.sync.client import connect

from assay.tasks.simul.live.corpus import Audio, Corpus, Sentence
from assay.tasks.simul.live.server import evaluation_app
from assay.tasks.simul.live.sessions import Sessions
from assay.web import Access, serving

TEXT = Corpus(
    "text", [Sentence("0", "x y", ("ä", "b")), Sentence("1", "z", ("c",)), Sentence("2", "w", ())]
)


@contextmanager
def _served(corpus: Corpus, output: Path | None = None, **options: Any) -> Iterator[httpx.Client]:
    old = options.pop("old", False)
    sessions = Sessions(corpus, output, old=old)
    app = evaluation_app(sessions, access=Access.for_host("127.0.0.1"), **options)
    with (
        serving(app) as address,
        httpx.Client(base_url=address.url, trust_env=False, timeout=60) as client,
    ):
        yield client
    sessions.close()


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with _served(TEXT) as client:
        yield client


@pytest.fixture(scope="module")
def untouched() -> Iterator[httpx.Client]:
    """A server that tests only ask for what it refuses."""
    with _served(TEXT) as client:
        yield client


def _translate(client: httpx.Client, words: dict[int, str], **query: Any) -> None:
    for index, text in words.items():
        answer = client.put("/hypo", params={"sent_id": index, **query}, content=text)
        assert (answer.status_code, answer.content) == (200, b"")


ALL = {0: "x y </s>", 1: "z </s>", 2: "w </s>"}

ERRORS = [
    # method path                            status what the answer says
    ("GET", "/src", 400, "add ?sent_id=0"),
    ("PUT", "/hypo", 400, "add ?sent_id=0"),
    ("GET", "/src?sent_id=", 422, "it is empty"),
    ("GET", "/src?sent_id=abc", 422, "must be a whole number, not 'abc'"),
    ("GET", "/src?sent_id=1.0", 422, "must be a whole number"),
    ("GET", "/src?sent_id=1_0", 422, "must be a whole number"),
    ("GET", "/src?sent_id=%D9%A1", 422, "must be a whole number"),
    ("GET", "/src?sent_id=" + "9" * 5000, 422, "must be a whole number"),
    ("GET", "/src?sent_id=3", 404, "there is no sentence 3; they are 0 to 2"),
    ("GET", "/src?sent_id=-1", 404, "there is no sentence -1"),
    ("PUT", "/hypo?sent_id=3", 404, "there is no sentence 3"),
    ("GET", "/src?sent_id=0&segment_size=x", 422, "segment_size must be"),
    ("GET", "/src?sent_id=0&step=x", 422, "step must be"),
    ("GET", "/src?sent_id=0&step=7", 409, "step 7 came where step 0 is next"),
    ("GET", "/src?sent_id=0&session=..", 422, "session must be"),
    ("GET", "/result", 409, "3 sentences have no translation yet"),
    ("GET", "/result?partial=2", 422, "partial must be 1, true, 0 or false"),
    ("GET", "/result?sent_id=9", 404, "there is no sentence 9"),
    ("GET", "/hypo?sent_id=0", 405, "GET is not possible"),
    ("POST", "/src?sent_id=0", 405, "POST is not possible"),
    ("HEAD", "/src?sent_id=0", 405, None),
    ("POST", "/result", 405, "POST is not possible"),
    ("PUT", "/", 405, "PUT is not possible"),
    ("GET", "/nothing", 404, "there is nothing at /nothing"),
]


@pytest.mark.parametrize(
    ("method", "path", "status", "says"), ERRORS, ids=[e[1][:30] for e in ERRORS]
)
def test_errors(
    untouched: httpx.Client, method: str, path: str, status: int, says: str | None
) -> None:
    answer = untouched.request(method, path)
    assert answer.status_code == status
    if says is not None:
        assert says in answer.json()["error"]


def test_wrong_methods_are_told_the_right_ones(client: httpx.Client) -> None:
    assert client.get("/hypo").headers["allow"] == "PUT"
    for path in ("/src", "/result"):
        assert client.head(path).status_code == client.put(path).status_code == 405
        assert client.put(path).headers["allow"] == "GET"
    assert set(client.put("/").headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


def test_answers_are_written_as_python_writes_json(client: httpx.Client) -> None:
    assert (
        client.get("/src?sent_id=0").text == '{"sent_id": 0, "segment_id": 0, "segment": "\\u00e4"}'
    )
    assert client.get("/").text == '{"num_sentences": 3, "data_type": "text"}'


def test_blanks_around_a_number_and_empty_sizes_are_taken(client: httpx.Client) -> None:
    assert (
        client.get("/src", params={"sent_id": " 1 ", "segment_size": ""}).json()["segment"] == "c"
    )


def test_missing_sentences_are_named_and_can_be_allowed(client: httpx.Client) -> None:
    _translate(client, {0: "x y </s>"})
    refused = client.get("/result")
    assert (refused.status_code, refused.json()["missing"]) == (409, [1, 2])
    found = client.get("/result?partial=1").json()
    assert found["missing"] == [1, 2]
    assert found["AP"] == 0.0


def test_unfinished_sentences_are_scored_and_named(client: httpx.Client) -> None:
    _translate(client, {**ALL, 1: "z"})
    assert client.get("/result").json()["unfinished"] == [1]
    assert client.get("/status").json() == {
        "session": "default",
        "num_sentences": 3,
        "finished": [0, 2],
        "unfinished": [1],
    }


def test_undefined_scores_are_null() -> None:
    # Reads nothing of an empty audio: AP divides by the length of the source.
    with _served(Corpus("speech", [Sentence("0", "x", audio=Audio(Path("none"), 0))])) as client:
        assert client.get("/src?sent_id=0").json()["segment"] == "</s>"
        _translate(client, {0: "x </s>"})
        assert client.get("/result").json()["AP"] is None


def test_sessions_do_not_see_one_another(client: httpx.Client) -> None:
    for name in ("a", "b"):
        assert client.get(f"/src?sent_id=0&session={name}").json()["segment_id"] == 0
    assert client.get("/src?sent_id=0&session=a").json()["segment_id"] == 1
    assert client.get("/src?sent_id=0").json()["segment_id"] == 0
    client.post("/?session=a")
    assert client.get("/src?sent_id=0&session=a").json()["segment_id"] == 0
    assert client.get("/src?sent_id=0&session=b").json()["segment_id"] == 1


def test_one_sentence_can_be_forgotten(client: httpx.Client) -> None:
    _translate(client, ALL)
    assert client.post("/?sent_id=1").content == b""
    assert client.get("/result").json()["missing"] == [1]


def test_there_is_an_end_to_sessions(client: httpx.Client) -> None:
    found = [client.get(f"/?session=s{n}").status_code for n in range(1001)]
    assert found == [200] * 1000 + [429]


def test_results_are_written_and_written_again(tmp_path: Path) -> None:
    with _served(TEXT, tmp_path) as client:
        _translate(client, ALL)
        first = client.get("/result").json()
        _translate(client, ALL, session="mine")
        assert client.get("/result?session=mine").json() == first
        client.post("/")
        _translate(client, {**ALL, 0: "q q </s>"})
        client.get("/result")
    assert (tmp_path / "text").read_text() == "q q\nz\nw\n"
    assert (tmp_path / "sessions/mine/text").read_text() == "x y\nz\nw\n"
    assert (tmp_path / "delay").read_text().splitlines()[0] == '{"src_len": 3, "delays": [0, 0, 0]}'
    names = [line.split(", ")[0] for line in (tmp_path / "scores").read_text().splitlines()]
    assert names == ["BLEU", "TER", "METEOR", "DAL", "AL", "AP"]


def test_files_that_cannot_be_written_are_reported(tmp_path: Path) -> None:
    with _served(TEXT, tmp_path / "out") as client:
        _translate(client, ALL)
        (tmp_path / "out" / "text").mkdir()  # in the way
        answer = client.get("/result")
    assert answer.status_code == 507
    assert "is a folder" in answer.json()["error"]


def test_a_body_that_is_not_text(client: httpx.Client) -> None:
    answer = client.put("/hypo?sent_id=0", content=b"\xff\xfe")
    assert (answer.status_code, answer.json()) == (422, {"error": "the body is not UTF-8 text"})


def test_the_token_is_wanted() -> None:
    app = evaluation_app(Sessions(TEXT), access=Access.for_host("0.0.0.0", "secret"))
    with serving(app) as address:
        assert httpx.get(f"{address.url}/src?sent_id=0").status_code == 401
        assert httpx.get(f"{address.url}/src?sent_id=0&token=secret").status_code == 200


# --- SimulEval 1.0 -------------------------------------------------------------------------------


def test_instance_id_gets_the_answers_of_simuleval(client: httpx.Client) -> None:
    assert client.get("/src?instance_id=0").json() == {
        "instance_id": 0,
        "segment_id": 0,
        "segment": "ä",
    }
    for index, text in ALL.items():
        client.put(f"/hypo?instance_id={index}", content=text)
    found = client.get("/result").json()
    assert found.keys() == {"Quality", "Latency"}
    assert found["Latency"].keys() == {"AL", "AP", "DAL"}
    one = client.get("/result?instance_id=0").json()
    assert (one["index"], one["prediction"], one["delays"]) == (0, "x y", [1, 1])
    # One word read, then both words and the end mark: d = 1, 1, 1 of X = 3, n = 3: AP = 3/9.
    assert one["metric"]["latency"]["AP"] == pytest.approx(1 / 3)


def _audio(tmp_path: Path) -> Corpus:
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(np.arange(320, dtype="<i2").tobytes())  # 20 ms
    return Corpus("speech", [Sentence("0", "one two", audio=Audio(path, 20))])


def test_instance_id_reads_any_number_of_milliseconds(tmp_path: Path) -> None:
    with _served(_audio(tmp_path)) as client:
        first = client.get("/src?instance_id=0&segment_size=7").json()
        assert first | {"segment": len(first["segment"])} == {
            "instance_id": 0,
            "segment_id": 7,
            "segment": 112,
            "sample_rate": 16_000,
            "dtype": "int16",
            "finished": False,
        }
        second = client.get("/src?instance_id=0&segment_size=50").json()
        assert (second["segment_id"], second["finished"]) == (20, True)
        assert first["segment"] + second["segment"] == list(range(320))
        client.put("/hypo?instance_id=0", content="a b </s> c")
        # d = 20, 20, 20; X = 20. AL goes by R = 2 reference words + 1, and stops at the first:
        # 20 - 0 = 20. AP = 60 / (20 * 3). DAL: g = 20, 26.67, 33.33, less i X/n: 20 each.
        assert client.get("/result").json()["Latency"] == pytest.approx(
            {"AL": 20.0, "AP": 1.0, "DAL": 20.0}
        )


def test_small_slices_are_refused_in_the_old_protocol(tmp_path: Path) -> None:
    with _served(_audio(tmp_path)) as client:
        assert client.get("/src?sent_id=0&segment_size=5").status_code == 422
        assert client.get("/src?sent_id=0&segment_size=999999999").status_code == 422
        assert len(client.get("/src?sent_id=0").json()["segment"]) == 160


# --- WebSocket -----------------------------------------------------------------------------------


def test_audio_over_a_websocket_is_pcm(tmp_path: Path) -> None:
    with _served(_audio(tmp_path)) as client:
        url = str(client.base_url).replace("http", "ws")
        with connect(f"{url}/audio?sent_id=0") as socket:
            heard = b""
            for ms in (7, None, 100):
                socket.send(json.dumps({"get": ms}))
                piece = socket.recv()
                assert isinstance(piece, bytes)
                heard += piece
            assert np.frombuffer(heard, dtype="<i2").tolist() == list(range(320))
            socket.send('{"get": 10}')
            end = {"segment": "</s>", "segment_id": 20, "finished": True}
            assert json.loads(socket.recv()) == end
            socket.send('{"send": "one two </s>"}')
            assert json.loads(socket.recv()) == {"words": 2, "position": 20}
        assert client.get("/result").json()["AP"] == 1.0


@pytest.mark.parametrize(
    "message",
    [
        "",
        "x",
        "[]",
        "{}",
        '{"get": "x"}',
        '{"get": true}',
        '{"send": 3}',
        b"\x00\x01",
        "[" * 100_000,
    ],
)
def test_websocket_messages_that_make_no_sense_change_nothing(
    untouched: httpx.Client, message: str | bytes
) -> None:
    url = str(untouched.base_url).replace("http", "ws")
    with connect(f"{url}/audio?sent_id=0&session={abs(hash(message))}") as socket:
        socket.send(message)
        assert "error" in json.loads(socket.recv())
        socket.send('{"get": null}')
        assert json.loads(socket.recv())["segment"] == "ä"


def test_a_websocket_for_no_sentence_is_closed_with_the_reason(client: httpx.Client) -> None:
    url = str(client.base_url).replace("http", "ws")
    with connect(f"{url}/audio?sent_id=77") as socket:
        assert "there is no sentence 77" in json.loads(socket.recv())["error"]


# --- documentation -------------------------------------------------------------------------------


def test_the_page_names_every_route_of_the_schema(client: httpx.Client) -> None:
    page = client.get("/docs")
    schema = client.get("/openapi.json").json()
    for path, methods in schema["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
