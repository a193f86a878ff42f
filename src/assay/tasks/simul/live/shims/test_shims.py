# SPDX-License-Identifier: Apache-2.0
"""Agent files as SimulEval's users wrote them, run without SimulEval."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AgentError, UsageError
from assay.tasks.simul.live.agents.registry import agent_in_file
from assay.tasks.simul.live.corpus import Corpus, Sentence
from assay.tasks.simul.live.drivers import driver_for
from assay.tasks.simul.live.links import LocalLink
from assay.tasks.simul.live.results import Tally, tally
from assay.tasks.simul.live.session import Session
from assay.tasks.simul.live.settings import Choice
from assay.tasks.simul.live.shims import installed_shims
from assay.tasks.simul.live.shims.segments import EmptySegment, TextSegment

pytestmark = pytest.mark.skipif(
    "simuleval" not in installed_shims().names, reason="SimulEval itself is installed"
)

CORPUS = Corpus(
    "text", [Sentence("0", "x", tuple("abcd")), Sentence("1", "y", ("e",)), Sentence("2", "z", ())]
)


def _run(
    tmp_path: Path, source: str, *words: str, corpus: Corpus = CORPUS, segment_ms: int = 10
) -> Tally:
    path = tmp_path / "agent.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    found = agent_in_file(str(path))
    args = Choice(words=words).arguments(found)
    driver, session = driver_for(found, args, limit=1_000, segment_ms=segment_ms)(), Session(corpus)
    link = LocalLink(session, exact=True)
    for index in range(len(corpus)):
        link.begin(index)
        driver.translate(index, link)
    return tally(session)


WAIT_K = """
    from simuleval.utils import entrypoint
    from simuleval.agents import TextToTextAgent
    from simuleval.agents.actions import ReadAction, WriteAction

    @entrypoint
    class CopyWaitk(TextToTextAgent):
        def __init__(self, args):
            super().__init__(args)
            self.k = args.waitk

        @staticmethod
        def add_args(parser):
            parser.add_argument("--waitk", type=int, default=2)

        def policy(self):
            behind = len(self.states.source) - len(self.states.target)
            if behind < self.k and not self.states.source_finished:
                return ReadAction()
            place = len(self.states.target)
            if place >= len(self.states.source):
                return WriteAction("", finished=True)
            last = self.states.source_finished and place + 1 == len(self.states.source)
            return WriteAction(self.states.source[place], finished=last)
"""


def test_an_agent_of_1_1_reads_words_and_knows_the_last(tmp_path: Path) -> None:
    found = _run(tmp_path, WAIT_K)
    assert found.texts == ["a b c d", "e", ""]
    # As SimulEval's own log of this agent: the last word is at 4, the end mark is never read.
    assert [d[:-1] for d in found.delays] == [[2, 3, 4, 4], [1], []]


def test_options_reach_the_agent(tmp_path: Path) -> None:
    assert _run(tmp_path, WAIT_K, "--waitk", "4").delays[0][:-1] == [4, 4, 4, 4]


def test_a_policy_may_take_states_and_write_several_words(tmp_path: Path) -> None:
    source = """
    from simuleval.agents import GenericAgent, AgentStates
    from simuleval.agents.actions import ReadAction, WriteAction

    class Whole(GenericAgent):
        source_type = "text"
        target_type = "text"
        def policy(self, states=None):
            assert isinstance(states, AgentStates)
            if not states.source_finished:
                return ReadAction()
            return WriteAction(" ".join(states.source).upper(), finished=True)
    """
    found = _run(tmp_path, source)
    assert found.texts == ["A B C D", "E", ""]
    assert found.delays[0] == [4] * 5


def test_a_pipeline_of_two(tmp_path: Path) -> None:
    source = """
    from simuleval.utils import entrypoint
    from simuleval.agents import TextToTextAgent, AgentPipeline
    from simuleval.agents.actions import ReadAction, WriteAction

    class Pass(TextToTextAgent):
        mark = ""
        @classmethod
        def add_args(cls, parser): parser.add_argument("--" + cls.__name__.lower(), default="!")
        def policy(self):
            done = len(self.states.target)
            if done < len(self.states.source):
                last = self.states.source_finished and done + 1 == len(self.states.source)
                return WriteAction(self.states.source[done] + self.mark, finished=last)
            if self.states.source_finished:
                return WriteAction("", finished=True)
            return ReadAction()

    class First(Pass): mark = "1"
    class Second(Pass):
        mark = "2"
        def policy(self):
            assert len(self.states.upstream_states) == 1
            return super().policy()

    @entrypoint
    class Both(AgentPipeline):
        pipeline = [First, Second]
    """
    assert _run(tmp_path, source, "--second", "?").texts[:2] == ["a12 b12 c12 d12", "e12"]


def test_pipelines_whose_types_do_not_fit(tmp_path: Path) -> None:
    source = """
    from simuleval.agents import TextToTextAgent, SpeechToTextAgent, AgentPipeline

    class A(TextToTextAgent):
        def policy(self): pass
    class B(SpeechToTextAgent):
        def policy(self): pass
    class Both(AgentPipeline):
        pipeline = [A, B]
    """
    with pytest.raises(RuntimeError, match="the types do not fit"):
        _run(tmp_path, source)


TREE = """
    from simuleval.agents import TextToTextAgent, TreeAgentPipeline
    from simuleval.agents.actions import ReadAction, WriteAction

    class Pass(TextToTextAgent):
        mark = ""
        def policy(self):
            done = len(self.states.target)
            if done < len(self.states.source):
                last = self.states.source_finished and done + 1 == len(self.states.source)
                return WriteAction(self.states.source[done] + self.mark, finished=last)
            return WriteAction("", finished=True) if self.states.source_finished else ReadAction()

    class Root(Pass): pass
    class Left(Pass): mark = "L"
    class Right(Pass): mark = "R"
    class Tree(TreeAgentPipeline):
        pipeline = {Root: [Left, Right], Left: [], Right: []}
"""


@pytest.mark.parametrize(
    ("words", "texts"), [((), "aL bL cL dL"), (("--output-index", "1"), "aR bR cR dR")]
)
def test_a_tree(tmp_path: Path, words: tuple[str, ...], texts: str) -> None:
    assert _run(tmp_path, TREE, *words).texts[0] == texts


def test_what_is_no_action(tmp_path: Path) -> None:
    source = """
    from simuleval.agents import TextToTextAgent
    class A(TextToTextAgent):
        def policy(self): return "read"
    """
    with pytest.raises(RuntimeError, match="not a ReadAction or WriteAction"):
        _run(tmp_path, source)


SPEECH = '''
    from simuleval.agents import SpeechToTextAgent
    from simuleval.agents.actions import ReadAction, WriteAction

    class OneWordPerCall(SpeechToTextAgent):
        """Has more to say when the source ends than one call can take."""
        def policy(self, states=None):
            said = len(states.target)
            if not states.source_finished:
                assert states.source_sample_rate == 16000
                assert all(-1 <= s <= 1 for s in states.source)
                return ReadAction()
            if said == 3:
                return ReadAction()
            return WriteAction(f"w{said}", finished=False)
'''


def test_speech_is_spoken_to_its_end_and_nothing_leaks_into_the_next(tmp_path: Path) -> None:
    import wave

    import numpy as np

    from assay.tasks.simul.live.corpus import Audio

    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(np.full(16 * 25, -32768, dtype="<i2").tobytes())
    corpus = Corpus("speech", [Sentence(str(i), "x", audio=Audio(path, 25)) for i in range(3)])
    found = _run(tmp_path, SPEECH, corpus=corpus)
    # SimulEval 1.1.4 keeps w0, w1, w2 of the three: one word each, states not reset.
    assert found.texts == ["w0 w1 w2"] * 3
    assert found.delays == [[25] * 4] * 3


def test_an_agent_that_speaks_has_to_say_so(tmp_path: Path) -> None:
    source = """
    from simuleval.agents import TextToSpeechAgent
    from simuleval.agents.actions import WriteAction
    class A(TextToSpeechAgent):
        def policy(self): return WriteAction([0.1, 0.2], finished=True)
    """
    with pytest.raises(AgentError, match="say --target-type speech"):
        _run(tmp_path, source)  # the session was made for text


def test_an_agent_gets_the_device_and_the_language_of_each_sentence(tmp_path: Path) -> None:
    source = """
    from simuleval.agents import TextToTextAgent
    from simuleval.agents.actions import WriteAction
    class A(TextToTextAgent):
        def to(self, device, fp16=False):
            self.place = f"{device}:{fp16}"
        def policy(self):
            return WriteAction(f"{self.states.tgt_lang}@{self.place}", finished=True)
    """
    path = tmp_path / "placed.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    found = agent_in_file(str(path))
    args = Choice(common={"device": "cuda:1", "fp16": True}).arguments(found)
    session = Session(CORPUS)
    driver = driver_for(found, args, limit=100, languages=["de", "cs", "zh"])()
    for index in range(2):
        driver.translate(index, LocalLink(session, exact=True))
    texts = tally(session, allow_missing=True).texts
    assert texts[:2] == ["de@cuda:1:True", "cs@cuda:1:True"]


MIDDLE = """
    from simuleval.agents import TextAgent
    from simuleval import READ_ACTION, WRITE_ACTION, DEFAULT_EOS
    from simuleval.states import ListEntry, TextStates

    class Dummy(TextAgent):
        data_type = "text"
        def __init__(self, args):
            super().__init__(args)
            self.waitk = args.waitk
        @staticmethod
        def add_args(parser):
            parser.add_argument("--waitk", type=int, default=3)
        def initialize_states(self, states):
            assert isinstance(states, TextStates)
            states.mine = ListEntry()
        def policy(self, states):
            if len(states.source) - len(states.target) < self.waitk and not states.finish_read():
                return READ_ACTION
            return WRITE_ACTION
        def predict(self, states):
            if states.finish_read() and states.target.length() == states.source.length():
                return DEFAULT_EOS
            states.mine.append(1)
            return states.source.value[len(states.target)].upper()
"""


def test_an_agent_of_1_0(tmp_path: Path) -> None:
    found = _run(tmp_path, MIDDLE, "--waitk", "2")
    assert found.texts == ["A B C D", "E", ""]
    assert found.delays == [[2, 3, 4, 5, 5], [2, 2], [1]]


def test_an_agent_of_1_0_with_subwords(tmp_path: Path) -> None:
    source = """
    from simuleval.agents import TextAgent
    from simuleval import READ_ACTION, WRITE_ACTION, DEFAULT_EOS

    class Subwords(TextAgent):
        def segment_to_units(self, segment, states):
            return [segment + "@", segment]
        def units_to_segment(self, unit_queue, states):
            if unit_queue[0] == DEFAULT_EOS: return DEFAULT_EOS
            if len(unit_queue) < 2: return None
            return unit_queue.pop() + unit_queue.pop()
        def policy(self, states):
            return WRITE_ACTION if states.finish_read() else READ_ACTION
        def predict(self, states):
            done = len(states.target)
            return states.source[done] if done < len(states.source) else DEFAULT_EOS
    """
    assert _run(tmp_path, source).texts == ["a@a b@b c@c d@d", "e@e", ""]


def test_an_agent_of_1_0_that_makes_its_states_and_lists(tmp_path: Path) -> None:
    """As agents of translation models do: tensors in place of lists, None for no prediction yet."""
    source = """
    from simuleval.agents import TextAgent
    from simuleval import READ_ACTION, WRITE_ACTION, DEFAULT_EOS
    from simuleval.states import ListEntry, TextStates

    class Tensor(ListEntry):
        def append(self, unit):
            self.value = (*self.value, unit)

    class Model(TextAgent):
        def build_states(self, args, client, sentence_id):
            states = TextStates(args, client, sentence_id, self)
            assert states.agent is self
            self.initialize_states(states)
            return states
        def initialize_states(self, states):
            states.units.source, states.units.target = Tensor(), ListEntry()
        def segment_to_units(self, segment, states):
            return ["_" + segment, segment]
        def units_to_segment(self, unit_queue, states):
            if unit_queue[0] == DEFAULT_EOS:
                return DEFAULT_EOS
            if None in unit_queue.value:
                unit_queue.value.remove(None)
            segment = []
            for unit in unit_queue:
                if (unit == DEFAULT_EOS or unit.startswith("_")) and segment:
                    for _ in segment:
                        unit_queue.pop()
                    end = [DEFAULT_EOS] if unit_queue[0] == DEFAULT_EOS else []
                    return ["".join(segment).replace("_", "")] + end
                segment.append(unit)
            return None
        def policy(self, states):
            assert isinstance(states.units.source.value, (tuple, list))
            waiting = len(states.units.source) <= self.written(states)
            return READ_ACTION if waiting and not states.finish_read() else WRITE_ACTION
        def written(self, states):
            return len([unit for unit in states.units.target.value if unit is not None])
        def predict(self, states):
            if len(states.units.target) == 1:
                return None
            done = self.written(states)
            return states.source.value[done] if done < len(states.source) else DEFAULT_EOS
    """
    found = _run(tmp_path, source)
    assert found.texts == ["aa bb cc dd", "ee", ""]
    assert found.delays == [[2, 3, 4, 5, 5], [2, 2], [1]]


def test_odd_answers_of_a_1_0_policy(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="READ_ACTION or WRITE_ACTION"):
        _run(tmp_path, MIDDLE.replace("return WRITE_ACTION", "return None"))


def test_segments_are_written_as_simuleval_writes_them() -> None:
    assert TextSegment(index=1, content="b").json() == (
        '{"index": 1, "content": "b", "finished": false, "is_empty": false, "data_type": "text", '
        '"tgt_lang": null, "config": {}}'
    )
    assert EmptySegment(finished=True).json() == (
        '{"index": 0, "content": [], "finished": true, "is_empty": true, "data_type": null, '
        '"tgt_lang": null, "config": {}}'
    )


def test_the_other_names_that_agent_files_import(tmp_path: Path) -> None:
    source = """
    from simuleval.utils.functional import find_free_port
    from simuleval.evaluator.instance import LogInstance
    from simuleval.evaluator.scorers.latency_scorer import LatencyScorer, register_latency_scorer
    from simuleval.data.segments import Segment, SpeechSegment, SpeechTextSegment, segment_from_json_string
    from simuleval.agents.states import AgentStates
    from simuleval import cli
    from simuleval.agents import TextToTextAgent
    from simuleval.agents.actions import WriteAction

    @register_latency_scorer("Mine")
    class Mine(LatencyScorer):
        def compute(self, instance): return instance.delays[0]

    class A(TextToTextAgent):
        def policy(self):
            log = LogInstance('{"index": 3, "delays": [2]}')
            assert Mine()({0: log}) == 2 and find_free_port() > 0
            return WriteAction("ok", finished=True)
    """
    assert _run(tmp_path, source).texts == ["ok"] * 3


def test_the_old_command_says_what_to_use() -> None:
    import importlib

    cli: Any = importlib.import_module("simuleval.cli")
    with pytest.raises(UsageError, match="assay simul run --agent"):
        cli.main()
