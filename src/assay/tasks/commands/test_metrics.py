# SPDX-License-Identifier: Apache-2.0
"""Numbers by hand, and against other implementations of the same arithmetic."""

from __future__ import annotations

import math

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

from assay import evaluate
from assay.core.batch import Batch
from assay.tasks.commands.accuracy import CommandAccuracy
from assay.tasks.commands.char_bleu import CharacterBleu
from assay.tasks.commands.corpus_bleu import CorpusBleu, sorted_tokens
from assay.tasks.commands.metrics import chosen_metrics, metric
from assay.tasks.commands.nlc2cmd import Nlc2Cmd
from assay.tasks.commands.template_score import TemplateScore
from assay.tasks.commands.tldr import Tldr, clean

short = st.text(alphabet="ab -|x", max_size=12)
references = st.lists(short.filter(bool), min_size=1, max_size=3)


@pytest.mark.filterwarnings("ignore")  # nltk warns of every order without a match
@given(prediction=short, gold=references)
def test_character_bleu_is_that_of_nltk(prediction: str, gold: list[str]) -> None:
    wanted = sentence_bleu(gold, prediction) if prediction else 0.0
    found = CharacterBleu().score([([prediction], gold)])["top1_character_bleu"]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-300)


@pytest.mark.filterwarnings("ignore")
@given(st.lists(st.tuples(short, references), min_size=1, max_size=5))
def test_corpus_bleu_is_that_of_nltk(pairs: list[tuple[str, list[str]]]) -> None:
    gold = [[list(sorted_tokens(text, "strict")) for text in texts] for _, texts in pairs]
    own = [list(sorted_tokens(text, "strict")) if text.strip() else [] for text, _ in pairs]
    smooth = SmoothingFunction().method1
    found = CorpusBleu().score([([text], texts) for text, texts in pairs])
    if not any(own):
        assert found["corpus_token_bleu_top1"] == 0.0  # nltk divides by zero
        return
    wanted = corpus_bleu(gold, own, smoothing_function=smooth, auto_reweigh=True)
    assert found["corpus_token_bleu_top1"] == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_tldr_gives_the_numbers_of_its_card() -> None:
    found = Tldr().score(
        [
            ("ipcrm --shmem-id {{segment_id}}", "ipcrm --shmem-id {{shmem_id}}"),
            ("trash-empty --keep-files {{path/to/file_or_directory}}", "trash-empty {{10}}"),
        ]
    )
    wanted = {
        "template_matching": 0.5,
        "command_accuracy": 1.0,
        "bleu_char": 65.67965919013294,
        "token_recall": 0.9999999999583333,
        "token_precision": 0.8333333333055555,
        "token_f1": 0.8999999999183333,
    }
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-12)
    assert found["edit_distance"] == 6.5  # 0, and " --keep-files" is 13 letters


CLEAN = [
    ("cp {{a}} {{b}} {{a}}", "cp $1 $2 $1"),
    ("cp {{a b}}x {{}} {{c", "cp $1x $2 {{c"),
    ("echo {{a\n}} {{b}}", "echo {{a }} $1"),  # a placeholder ends on its line
    ("sudo cat \"x\" '<y>' `z` >> sudoers", "cat x y z sudoers"),
    ("{{" * 100_000, "{{" * 100_000),
]


@pytest.mark.parametrize(("command", "cleaned"), CLEAN, ids=lambda text: text[:20])
def test_commands_as_tldr_compares_them(command: str, cleaned: str) -> None:
    assert clean(command) == cleaned


@given(prediction=short, gold=short.filter(bool))
def test_bleu_of_tldr_is_that_of_sacrebleu(prediction: str, gold: str) -> None:
    found = Tldr().score([(prediction, gold)])["bleu_char"]
    wanted = sacrebleu.corpus_bleu([clean(prediction)], [[clean(gold)]], tokenize="char").score
    assert found == pytest.approx(wanted, abs=1e-9)


DOCUMENTED = [
    # The examples that the challenge itself gives for its score.
    ("find . -type f -ctime -3 | tail -n 5", "find . -type f | tail -n 5", 0.75),
    ("df | grep /dev/disk0s2", "df | grep diskpath", 1.0),
    ("find . -regextype posix-egrep -regex '^.*/[a-z][^/]*$' -type f",
     "find . -type f -regextype posix-egrep -regex '^.*/[a-z][^/]*$' ", 1.0),
    ("mkdir directory", "touch directory", -1.0),
    ("df --total | tail -n 1", "tail -n 1 | df --total", -1.0),
    ("find / -name linux", "find / -EXdsx -name linux", 1 / 6),
    # A utility too many costs 1, so (1 - 1) / 2; flags of a nested command count twice.
    ("ls -l", "ls -l | wc -l", 0.0),
    ("find . -exec grep -l a {} \\;", "find . -exec grep -i a {} \\;", -0.125),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "prediction", "score"), DOCUMENTED)
def test_nlc2cmd(gold: str, prediction: str, score: float) -> None:
    assert Nlc2Cmd().score([([prediction], [gold])])["nlc2cmd"] == pytest.approx(score)


def test_nlc2cmd_weighs_by_confidence() -> None:
    batch = Batch(
        [["touch a", "mkdir a"], []],
        [["mkdir a"], ["ls"]],
        columns={"confidences": ["1.0 0.5", ""]},
    )
    assert Nlc2Cmd().measure(batch).tolist() == [
        [0.5, 1.0],
        [-1.0, 1.0],
    ]  # the best; nothing at all


def test_template_match_by_hand() -> None:
    # {find, -name Regex, |, wc, -l} and {find, -name Regex, -type Type}: 2 / (sqrt 5 * sqrt 3)
    pair = (["find . -name a | wc -l"], ["find . -name b -type f"])
    found = TemplateScore().score([pair])["top1_template_match_score"]
    assert found == pytest.approx(2 / math.sqrt(15))


def test_ranks() -> None:
    gold = [{"nl": "list", "references": ["ls -a"]}, {"nl": "print", "references": ["pwd"]}]
    found = evaluate("commands", [["ls", "ls -a"], ["pwd", "ls"]], gold, top_k=2, ci=0).scores
    assert list(found) == [
        "top1_command_accuracy",
        "top2_command_accuracy",
        "top1_template_accuracy",
        "top2_template_accuracy",
    ]
    assert list(found.values()) == [0.5, 1.0, 0.5, 1.0]
    alone = evaluate("commands", [["ls"], ["pwd"]], gold, top_k=1, ci=0).scores
    assert alone == {"top1_command_accuracy": 0.5, "top1_template_accuracy": 0.5}


def test_a_metric_may_look_further_than_people_do() -> None:
    gold = [{"nl": "list", "references": ["ls -a"]}]
    names = ["accuracy(k=2)", "accuracy(k=4)"]
    found = evaluate("commands", [["a", "b", "c", "ls -a"]], gold, metrics=names, ci=0).scores
    assert found["top2_command_accuracy"] == 0.0
    assert found["top4_command_accuracy"] == 1.0


def test_options_fill_in_parameters_that_are_not_given() -> None:
    options = {"top_k": 5, "match": "loose"}
    assert chosen_metrics(["accuracy", "accuracy(k=1)", "nlc2cmd"], **options) == [
        CommandAccuracy(5, "loose"),
        CommandAccuracy(1, "loose"),
        Nlc2Cmd(),
    ]
    assert metric("template_match(k=2)") == TemplateScore(2)


def test_slices_follow_from_gold() -> None:
    gold = [
        {"nl": "a", "references": ["find . -name x"]},
        {"nl": "b", "references": ["ls"], "topic": "t"},
    ]
    found = evaluate(
        "commands", [["ls"], ["ls"]], gold, slices=["utility", "length", "topic"], ci=0
    )
    slices = found.document.slices
    assert slices["utility"]["ls"].scores["top1_command_accuracy"] == 1.0
    assert slices["utility"]["find"].scores["top1_command_accuracy"] == 0.0
    assert {value: entry.n for value, entry in slices["length"].items()} == {"1-5": 2}
    assert set(slices["topic"]) == {"", "t"}
