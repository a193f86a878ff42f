# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
import textwrap
from argparse import Namespace
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import AgentError, AssayError, UsageError
from assay.tasks.simul.live.agents import END, GET, SEND, Agent, TranslationAgent, register_agent
from assay.tasks.simul.live.agents.phrases import PhraseTable
from assay.tasks.simul.live.agents.registry import agent_by_name, agent_in_file
from assay.tasks.simul.live.agents.tones import SYMBOLS, ToneListener, dial
from assay.tasks.simul.live.corpus import Corpus, Sentence
from assay.tasks.simul.live.drivers import NativeDriver, driver_for
from assay.tasks.simul.live.links import LocalLink
from assay.tasks.simul.live.results import tally
from assay.tasks.simul.live.session import Session
from assay.tasks.simul.live.settings import Choice

CORPUS = Corpus(
    "text", [Sentence("0", "x", tuple("abcd")), Sentence("1", "y", ("e",)), Sentence("2", "z", ())]
)


def _run(
    found: type, *words: str, corpus: Corpus = CORPUS, limit: int = 10_000
) -> tuple[list[str], list[list[float]]]:
    choice = Choice(words=words)
    make = driver_for(found, choice.arguments(found), limit=limit, segment_ms=10)
    driver, session = make(), Session(corpus)
    link = LocalLink(session)
    for index in range(len(corpus)):
        link.begin(index)
        driver.translate(index, link)
    done = tally(session)
    return done.texts, done.delays


class Documented(Agent):
    """As an agent of the 2020 evaluation is documented: everything in states, string keys."""

    def init_states(self) -> Any:
        return {"read": [], "sent": 0, "over": False}

    def update_states(self, states: Any, new_state: Mapping[str, Any]) -> Any:
        if new_state["segment"] == END:
            states["over"] = True
        else:
            states["read"].append(new_state["segment"])
        return states

    def policy(self, states: Any) -> Any:
        if not states["over"] and len(states["read"]) - states["sent"] < 2:
            return {"key": "GET", "value": None}
        states["sent"] += 1
        if states["sent"] > len(states["read"]):
            return {"key": "SEND", "value": END}
        return {"key": "SEND", "value": states["read"][states["sent"] - 1].upper()}


def test_the_documented_class() -> None:
    texts, delays = _run(Documented)
    assert texts == ["A B C D", "E", ""]
    assert delays == [[2, 3, 4, 5, 5], [2, 2], [1]]


def test_states_may_be_changed_in_place() -> None:
    class InPlace(Documented):
        def update_states(self, states: Any, new_state: Mapping[str, Any]) -> Any:
            super().update_states(states, new_state)

    assert _run(InPlace) == _run(Documented)


def test_finish_eval_ends_a_sentence_without_an_end_mark() -> None:
    class Finishes(Documented):
        def finish_eval(self, states: Any, new_state: Any) -> bool:
            return len(states["read"]) == 3 or new_state["segment"] == END

    assert _run(Finishes)[0] == ["A", "", ""]


# --- the three parts -----------------------------------------------------------------------------


class Plain:
    """An agent without a base class, and without what the old program never called."""

    def __init__(self, args: Namespace) -> None:
        self.args = args

    def reset(self) -> None:
        pass

    def init_states(self) -> list[str]:
        return []

    def update_states(self, states: list[str], new_state: Mapping[str, Any]) -> list[str]:
        return [*states, new_state["segment"]]

    def policy(self, states: list[str]) -> dict[str, Any]:
        over = states[-1:] == [END]
        return {"key": SEND, "value": " ".join(states)} if over else {"key": GET}


class Unfinished(Plain):
    def finish_eval(self, states: Any, new_state: Any) -> bool:
        raise NotImplementedError


@pytest.mark.parametrize("found", [Plain, Unfinished])
def test_an_agent_whose_finish_eval_was_never_called(found: type) -> None:
    assert _run(found)[0] == ["a b c d", "e", ""]


def test_without_overriding_anything_the_source_is_copied_at_the_end() -> None:
    assert _run(TranslationAgent) == (["a b c d", "e", ""], [[5] * 5, [2, 2], [1]])


def test_load_model_alone() -> None:
    loaded = []

    class Loads(TranslationAgent):
        def load_model(self, args: Namespace) -> None:
            loaded.append(args.max_len)

    assert _run(Loads, "--max-len", "7")[0] == ["a b c d", "e", ""]
    assert loaded == [7]


def test_decision_alone() -> None:
    class Eager(TranslationAgent):
        def decision_from_states(self, states: Any) -> int:
            behind = len(states["segments"]["src"]) - len(states["segments"]["tgt"])
            return GET if behind < 1 and not states["finish_read"] else SEND

    assert _run(Eager)[1] == [[1, 2, 3, 4, 5], [1, 2], [1]]


def test_prediction_alone() -> None:
    class Counts(TranslationAgent):
        def predict_from_states(self, states: Any) -> str:
            written = len(states["segments"]["tgt"])
            return str(written) if written < 2 else END

    assert _run(Counts) == (["0 1", "0 1", "0 1"], [[5, 5, 5], [2, 2, 2], [1, 1, 1]])


class Pieces(TranslationAgent):
    """Writes three pieces per word; a word begins with an underscore."""

    def predict_from_states(self, states: Any) -> str:
        word, piece = divmod(states["steps"]["tgt"], 3)
        source = states["segments"]["src"]
        return END if word >= len(source) else ("_" + source[word], "x", "y")[piece]

    def starts_word(self, piece: str) -> bool:
        return piece.startswith("_")

    def join_pieces(self, pieces: list[str]) -> str:
        return "".join(pieces).lstrip("_")


def test_pieces_are_sent_as_whole_words() -> None:
    assert _run(Pieces)[0] == ["axy bxy cxy dxy", "exy", ""]


def test_a_sentence_ends_after_so_many_pieces() -> None:
    assert _run(Pieces, "--max-len", "4")[0] == ["axy b", "exy", ""]


# --- wait-k --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "delays"), [(1, [1, 2, 3, 4, 5]), (3, [3, 4, 5, 5, 5]), (9, [5, 5, 5, 5, 5])]
)
def test_wait_k_stays_k_words_behind(k: int, delays: list[int]) -> None:
    found = _run(agent_by_name("waitk_text"), "--waitk", str(k))
    assert found[0] == ["a b c d", "e", ""]
    assert found[1][0] == delays


def test_old_names_of_the_stock_agents() -> None:
    assert agent_by_name("simul_trans_text") is agent_by_name("waitk_text")
    assert agent_by_name("simul_trans_speech") is agent_by_name("waitk_speech")


def test_a_phrase_is_waited_for() -> None:
    table = PhraseTable({("a", "b", "c"): ("X",), ("a",): ("Y", "Z")})
    assert table.next(["a", "b"], final=False) is None
    assert table.next(["a", "b"], final=True) == (1, ("Y", "Z"))
    assert table.next(["a", "b", "c"], final=False) == (3, ("X",))
    assert table.translate(list("abcdab")) == ["X", "d", "Y", "Z", "b"]


@pytest.mark.parametrize(
    ("data", "message"), [(b"a b\n", "line 1: is not a phrase"), (b"\xff\ta\n", "not UTF-8")]
)
def test_bad_phrase_tables(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "p").write_bytes(data)
    with pytest.raises(AssayError, match=message):
        PhraseTable.read(str(tmp_path / "p"))


@given(
    st.lists(st.sampled_from(SYMBOLS), max_size=6),
    st.integers(50, 900),
    st.sampled_from([8_000, 16_000, 44_100]),
)
def test_dialled_symbols_are_understood_however_the_audio_is_cut(
    symbols: list[str], size: int, rate: int
) -> None:
    audio, listener = dial(symbols, rate).tolist(), ToneListener(rate)
    for start in range(0, len(audio), size):
        listener.hear(audio[start : start + size])
    listener.finish()
    assert listener.words == symbols


def test_noise_is_not_understood() -> None:
    listener = ToneListener()
    listener.hear(np.random.default_rng(7).integers(-300, 300, 16_000).tolist())
    assert listener.words == []


# --- what can go wrong ---------------------------------------------------------------------------

ODD_ACTIONS = [
    (None, "the policy gave None in sentence 0"),
    ({}, "the policy gave {}"),
    ({"key": "PUT", "value": "x"}, "the policy gave the key 'PUT'"),
    ({"key": SEND, "value": None}, "a SEND has the value None"),
    ({"key": SEND, "value": 3}, "a SEND has the value 3"),
    ({"key": GET, "value": 3}, "a GET has the value 3"),
]


@pytest.mark.parametrize(("action", "message"), ODD_ACTIONS)
def test_odd_actions(action: Any, message: str) -> None:
    class Odd(Documented):
        def policy(self, states: Any) -> Any:
            return action

    with pytest.raises(AgentError, match=message.replace("{", r"\{")):
        _run(Odd)


def test_an_agent_that_never_writes() -> None:
    class Reads(Documented):
        def policy(self, states: Any) -> Any:
            return {"key": GET, "value": None}

    with pytest.raises(AgentError, match="keeps reading after the end of sentence 0"):
        _run(Reads)


def test_an_agent_that_never_ends() -> None:
    class Writes(Documented):
        def policy(self, states: Any) -> Any:
            return {"key": SEND, "value": "w"}

    with pytest.raises(AgentError, match="50 steps in sentence 0 without an end"):
        _run(Writes, limit=50)


def test_a_class_that_is_no_agent() -> None:
    with pytest.raises(UsageError, match="dict is not an agent: it lacks policy"):
        driver_for(dict, Namespace(), limit=1, segment_ms=1)


# --- finding agents ------------------------------------------------------------------------------


def _file(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


BODY = """
        def init_states(self): return {}
        def update_states(self, states, new_state): return states
        def policy(self, states): return {"key": SEND, "value": "hello </s>"}
"""


@pytest.mark.parametrize(
    "imports",
    [
        "from assay.tasks.simul.live.agents import Agent, SEND, register_agent",
        "from agents import Agent, register_agent; from agents.agent import SEND",
        "from . import Agent, SEND, register_agent",
    ],
)
def test_an_agent_in_a_file_however_it_imports(tmp_path: Path, imports: str) -> None:
    name = f"a{abs(hash(imports))}"
    source = f"\n    {imports}\n\n    @register_agent('{name}')\n    class A{name}(Agent):{BODY}"
    found = agent_in_file(_file(tmp_path, f"{name}.py", source))
    assert _run(found)[0] == ["hello"] * 3
    assert agent_by_name(name) is found


def test_an_agent_that_is_not_registered_and_its_neighbours(tmp_path: Path) -> None:
    _file(tmp_path, "beside_it.py", "WORD = 'beside </s>'")
    source = """
    from assay.tasks.simul.live.agents import Agent
    from beside_it import WORD

    class Base(Agent):
        def init_states(self): return {}
        def update_states(self, states, new_state): return states

    class Mine(Base):
        def policy(self, states): return {"key": 1, "value": WORD}
    """
    found = agent_in_file(_file(tmp_path, "mine.py", source))
    assert _run(found)[0] == ["beside"] * 3


TWO = "from assay.tasks.simul.live.agents import TranslationAgent\nclass One(TranslationAgent): pass\nclass Two(TranslationAgent): pass\n"

BAD_FILES = [
    ("x.py", "class A: pass", "must hold one agent class and has none"),
    ("two.py", TWO, "has One, Two; name it with --agent-class"),
    ("broken.py", "x = 1\nx.y\n", r"broken.py, line 2 cannot be imported: AttributeError"),
    ("syntax.py", "def f(:\n", r"syntax.py, line 1 cannot be imported: SyntaxError"),
    ("needs.py", "import no_such_module_here", "ModuleNotFoundError"),
]


@pytest.mark.parametrize(("name", "source", "message"), BAD_FILES, ids=[b[0] for b in BAD_FILES])
def test_files_that_hold_no_agent(tmp_path: Path, name: str, source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        agent_in_file(_file(tmp_path, name, source))


def test_one_of_several_classes(tmp_path: Path) -> None:
    path = _file(tmp_path, "two.py", TWO)
    assert agent_in_file(path, "Two").__name__ == "Two"
    with pytest.raises(UsageError, match="has no class Three"):
        agent_in_file(path, "Three")


def test_a_name_cannot_be_taken_twice() -> None:
    with pytest.raises(UsageError, match="there is an agent 'waitk_text' already"):
        register_agent("waitk_text")(Documented)
    other = type("WaitkTextAgent", (), {})
    with pytest.raises(UsageError, match="there is an agent class WaitkTextAgent already"):
        register_agent("another")(other)


def test_agents_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("outside", f"{__name__}:Documented", "assay.agents")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point])
    monkeypatch.setattr(EntryPoint, "load", lambda self: Documented)
    assert agent_by_name("outside") is Documented


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'waitk_text'"):
        agent_by_name("waitk_txt")


def test_wrong_options_of_an_agent_name_the_right_ones() -> None:
    found = agent_by_name("waitk_text")
    with pytest.raises(UsageError, match=r"--k; did you mean --waitk\? .*--max-len"):
        Choice(words=("--k", "3")).arguments(found)


def test_an_agent_sees_common_options_under_their_names() -> None:
    class Wants(Documented):
        @staticmethod
        def add_args(parser: Any) -> None:
            parser.add_argument("--output", required=True)

    args = Choice(words=(), common={"output": "here", "port": None}).arguments(Wants)
    assert (args.output, args.port) == ("here", None)


def test_each_sentence_begins_with_a_reset() -> None:
    class Resets(Documented):
        count = 0

        def reset(self) -> None:
            Resets.count += 1

    NativeDriver(Resets(Namespace()), 100).translate(0, LocalLink(Session(CORPUS)))
    assert Resets.count == 1


def test_what_lies_beside_an_agent_is_found_but_hides_nothing_of_python(tmp_path: Path) -> None:
    _file(tmp_path, "beside_it.py", "NAME = 'beside'")
    _file(tmp_path, "fractions.py", "raise ImportError('not the one of Python')")
    source = f"""
    import beside_it, fractions
    from assay.tasks.simul.live.agents import Agent, SEND

    class Mine(Agent):{BODY}
        name = beside_it.NAME + str(fractions.Fraction(1, 2))
    """
    look = (
        "from assay.tasks.simul.live.agents.registry import agent_in_file\n"
        f"print(agent_in_file({_file(tmp_path, 'mine.py', source)!r}).name)"
    )
    ran = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("beside1/2\n", "")
