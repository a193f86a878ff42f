# SPDX-License-Identifier: Apache-2.0
"""`assay code score` as a user meets it: its options, what it prints and writes, what it tells."""

from __future__ import annotations

import gzip
import importlib.resources
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.tasks.code.datasets import DATASETS

Outcome = tuple[int, str, str]
Score = Callable[..., Any]
Write = Callable[..., None]

# The documented example: 2 tokens right, 2 wrong, 3 missed.
PREDICTIONS, TARGETS = "get name\nset size\n", "get size\nset up now\n"
SUMMARY = "Precision: 0.5, Recall: 0.4, F1-score: 0.4444444444444445"

RIGHT = {
    "pooled names": ["get name", "set size"],
    "averaged names": ["get name", "set size"],
    "completions": ["x = get ( )", "return y"],
    "comments": ["returns the name of it", "sets the size of it"],
    "bug repair": ["NO_BUG", ""],
    "classes": [],
    "misuse repair": [],
    "edits": ["add_node a", "del_node b"],
    "bug classes": ["CLASS_A", "CLASS_B"],
}


def gold_of(name: str) -> list[str]:
    """Two lines of gold that a data set takes."""
    dataset = next(d for d in DATASETS if d.name == name)
    style = dataset.parameters.get("style")
    place = "POINTER(4,x)" if style == "pointed" else "ERROR_LOCATION_4"
    if dataset.family_name == "bug repair":
        return ["NO_BUG", f"{place} y"]
    if dataset.family_name == "misuse repair":
        return ["POINTER(1,f) f" if style == "pointed" else "BUG_FREE", f"{place} y"]
    if dataset.family_name == "classes":
        other = {"exception": "KeyError", "variable-misuse": "Variable misuse"}
        other |= {"swapped-operand": "Swapped operands", "docstring": "Incorrect"}
        other |= {"operator": "Wrong binary operator"}
        label = other[dataset.parameters["labels"]]
        return ["CLASS_ValueError" if label == "KeyError" else "CLASS_Correct", f"CLASS_{label}"]
    return RIGHT[dataset.family_name]


NAMES = [dataset.name for dataset in DATASETS]


# -- names, spellings, files ----------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["code2seq_dataset", "convattn_dataset", "ogb_code_dataset"])
def test_the_first_line_is_the_documented_summary(dataset: str, score: Score, write: Write) -> None:
    write(p=PREDICTIONS, g=TARGETS)
    found = score(dataset)
    assert found.code == 0
    assert found.lines[:2] == [SUMMARY, "total: 2"]
    assert found.err == ""


@pytest.mark.parametrize("dataset", ["code2seq_dataset", "convattn_dataset", "ogb_code_dataset"])
def test_compat_prints_the_lines_of_plur_alone(dataset: str, score: Score, write: Write) -> None:
    write(p=PREDICTIONS, g=TARGETS)
    plain, compat = score(dataset), score(dataset, "--compat", "plur")
    assert compat.lines == plain.lines[1:]
    assert "compat:plur" in json.loads(score(dataset, "--compat=plur", "--json").out)["signature"]


def test_compat_takes_a_pattern_without_files_for_no_line(score: Score) -> None:
    found = score("convattn", "--compat=plur", p="none-*", g="nothing")
    assert found.code == 0
    assert found.lines[:2] == ["total: 0", "precision: 0.00000"]
    assert "none-*: no file matches" in found.err


@pytest.mark.parametrize("dataset", NAMES)
def test_every_name_works_with_and_without_its_ending(
    dataset: str, score: Score, write: Write
) -> None:
    text = "".join(f"{line}\n" for line in gold_of(dataset))
    write(p=text, g=text)
    long, short = score(dataset), score(dataset.removesuffix("_dataset"))
    assert long.code == 0
    assert long == short
    assert score(dataset.upper().replace("_", "-")) == long


@pytest.mark.parametrize(
    "flags",
    [
        ("--prediction_file", "--target_file"),
        ("--prediction_file_pattern", "--target_file_pattern"),
        ("--prediction-file-pattern", "--target-file-pattern"),
        ("--predictions", "--gold"),
        ("-p", "-g"),
    ],
)
@pytest.mark.parametrize("glue", ["=", None])
def test_every_spelling_of_the_files_works(
    flags: tuple[str, str], glue: str | None, write: Write, assay: Callable[..., Any]
) -> None:
    write(p=PREDICTIONS, g=TARGETS)
    given = []
    for flag, file in zip(flags, ("p", "g"), strict=True):
        joined = glue is not None and flag.startswith("--")
        given += [f"{flag}{glue}{file}"] if joined else [flag, file]
    assert assay("code", "score", *given).lines[0] == SUMMARY  # code2seq is the default


def test_shards_are_read_in_order_of_code_points(score: Score, write: Write) -> None:
    write(
        **{"p-10": "get name\n", "p-2": "set size\n", "g-10": "get size\n", "g-2": "set up now\n"}
    )
    found = score("code2seq", p="p-*", g="g-?*")
    assert found.lines[0] == SUMMARY
    assert found.err == ""
    turned = score("code2seq", p="p-*", g="g-[0-9]*")
    assert turned.lines == found.lines


def test_shards_that_do_not_belong_together_are_told(score: Score, write: Write) -> None:
    write(**{"p-1": "a\nb\n", "p-2": "c\n", "g-1": "a\n", "g-2": "b\nc\n"})
    assert (
        "p-1 has 2 lines and g-1, which is read beside it, has 1"
        in score("code2seq", p="p-*", g="g-*").err
    )
    write(**{"q-2": "a\n", "q-10": "b\n", "h-02": "a\n", "h-10": "b\n"})
    assert "q-10 is read beside h-02" in score("code2seq", p="q-*", g="h-*").err
    write(one="a\nb\n")
    assert "2 files of predictions but 1 of gold" in score("code2seq", p="q-*", g="one").err


def test_packed_files_work(score: Score, write: Write) -> None:
    write(p=gzip.compress(PREDICTIONS.encode()), g=TARGETS)
    assert score("code2seq").lines[0] == SUMMARY


def test_records_with_ids_are_paired_by_them(score: Score, write: Write) -> None:
    golds = [{"id": 1, "gold": "get size"}, {"id": 2, "gold": "set up now"}, {"id": 3, "gold": ""}]
    guesses = [
        {"id": 2, "prediction": "set size"},
        {"id": 1, "prediction": ["get name", "get size"]},
    ]
    write(
        p="".join(f"{json.dumps(r)}\n" for r in guesses),
        g="".join(f"{json.dumps(r)}\n" for r in golds),
    )
    found = score("convattn", "--input-format=jsonl", "--missing=wrong", "--json")
    assert found.code == 0
    document = json.loads(found.out)
    # The third, which is missing, is not right though its gold is empty: (1 + 2/5 + 0) / 3.
    assert document["scores"]["f1_score"] == pytest.approx((1 + 0.4 + 0) / 3)
    assert document["scores"]["exact_match_percentage"] == pytest.approx(1 / 3)
    assert document["counts"]["missing"] == 1


# -- options --------------------------------------------------------------------------------------


def test_line_breaks(score: Score, write: Write) -> None:
    text = "a\x0cb c\u2028d\n"
    write(p=text, g=text)
    every = score("code2seq")
    assert every.lines[1] == "total: 3"
    assert (
        "2 lines end in a break other than a line feed, first: p, line 1 ends in U+000C"
        in every.err
    )
    assert "--line-breaks lf" in every.err
    feeds = score("code2seq", "--line-breaks=lf")
    assert feeds.lines[1] == "total: 1"
    assert feeds.err == ""


def test_a_byte_order_mark_is_kept_and_told(score: Score, write: Write) -> None:
    write(p="\ufeffget\n", g="get\n")
    found = score("code2seq")
    assert found.lines[2] == "precision: 0.00000"
    assert "byte order mark" in found.err


def test_ignored_ranks_are_told_and_beams_can_be_cut(score: Score, write: Write) -> None:
    write(p="x\tget\nset\n", g="get\nset\n")
    found = score("convattn", "--top_n_beam_search=1")
    assert found.lines[4] == "f1_score: 1.00000"
    assert "convattn_dataset looks at all candidates, up to 2, of each line" in found.err
    asked = score("convattn", "--top_n_beam_search=5")
    assert asked.lines == found.lines
    assert "--top_n_beam_search 5 changes nothing" in asked.err
    cut = score("convattn", "--cut-beams=1")
    assert cut.lines[4] == "f1_score: 0.50000"
    assert cut.err == ""
    assert score("code2seq", "--cut-beams=1").lines[2] == "precision: 0.50000"


def test_ranks_of_comments(score: Score, write: Write) -> None:
    write(p="x\ta b c d\ty\n", g="a b c d\n")
    assert score("funcom").lines[1] == "bleu_1: 0.00000"
    assert score("funcom", "--top_n_beam_search=2").lines[4] == "bleu_4: 100.00000"
    assert score("funcom", "--top_n_beam_search=0").lines[1:] == [
        f"bleu_{n}: 0.00000" for n in (1, 2, 3, 4)
    ]


def test_rules(score: Score, write: Write) -> None:
    write(p="Get name name\n<PAD> x\n", g="get name name\nx\n")
    # plur: {get, name} against [get, name, name], and {<pad>, x} against [x].
    assert score("ogb_code").lines[2] == f"precision: {(1 + 1 / 2) / 2:.5f}"
    # official: {Get, name} against {get, name}.
    official = score("ogb_code", "--rules=ogb-official")
    assert official.lines[2:4] == [
        f"precision: {(1 / 2 + 1 / 2) / 2:.5f}",
        f"recall: {(1 / 2 + 1) / 2:.5f}",
    ]
    # original: of five predicted tokens <PAD> does not count, and three are right.
    assert score("code2seq").lines[2] == f"precision: {3 / 5:.5f}"
    assert score("code2seq", "--rules=code2seq-original").lines[2] == f"precision: {3 / 4:.5f}"
    document = json.loads(score("ogb_code", "--rules=ogb-official", "--json").out)
    assert document["metrics"][0]["signature"] == "names_averaged(rules=ogb-official)"


def test_raw_totals(score: Score, write: Write) -> None:
    write(p="POINTER(4,x) y\nPOINTER(1,f)\n", g="POINTER(4,x) y\nPOINTER(1,f)\n")
    raw = "--cubert_vmr_raw_test_total_"
    dataset = "cubert_variable_misuse_repair"
    found = score(dataset, f"{raw}examples=8", f"{raw}buggy_examples", "2")
    assert (
        "raw_total=8, raw_total_buggy=2, raw_true_positive=0.5, raw_true=0.25, raw_localized=0.5"
        in found.out
    )
    assert found.err == ""
    assert "raw_total=None, raw_total_buggy=None, raw_true_positive=None" in score(dataset).out
    small = score(dataset, f"{raw}examples=1", f"{raw}buggy_examples=1")
    assert "raw total of examples is 1, below the 2 of the data" in small.err
    write(p="a\n", g="a\n")
    assert (
        "mean nothing for code2seq_dataset"
        in score("code2seq", f"{raw}examples=8", f"{raw}buggy_examples=2").err
    )


def test_odd_predictions_of_repairs_are_counted_and_stop_nothing(
    score: Score, write: Write
) -> None:
    write(p="POINTER(,x)\n?\nPOINTER(4,x) y\n", g="POINTER(4,x) y\n" * 3)
    assert "total_syntax_errors=2" in score("cubert_variable_misuse_repair").out
    write(p="ERROR_LOCATION_1 x\nBUG_FREE\n", g="BUG_FREE\nBUG_FREE\n")
    found = score("cubert_variable_misuse_repair_unpointed")
    assert "true=0.5," in found.out
    assert "total_syntax_errors=1" in found.out


def test_odd_gold_is_told(score: Score, write: Write) -> None:
    write(p="NO_BUG\nNO_BUG\n", g="POINTER(4,x)\nNO_BUG\n")
    found = score("great_var_misuse")
    assert found.lines[-1] == "rep_acc: 1.00000"
    assert "1 gold lines have a location and no repair" in found.err
    write(p="NoOp\nadd_node\n", g="NoOp\nadd_node\n")
    found = score("hoppity")
    assert found.lines[1] == "total_acc: 0.50000"
    assert "1 gold lines are edits of another kind" in found.err


def test_empty_files_are_a_corpus_without_lines(score: Score, write: Write) -> None:
    write(p="", g="")
    assert score("code2seq").lines[:2] == ["Precision: 0.0, Recall: 0.0, F1-score: 0.0", "total: 0"]
    empty = score("cubert_exception_classification").out
    assert (
        empty
        == "_AllResults(total=0, accuracy=0.0, per_class_accuracies={}, mean_per_class_accuracy=0.0)\n"
    )
    assert score("funcom", "--top_n_beam_search=0").lines == [
        "total: 0",
        *(f"bleu_{n}: 0.00000" for n in (1, 2, 3, 4)),
    ]


@pytest.mark.parametrize("dataset", [name for name in NAMES if not name.startswith("funcom")])
def test_everything_can_be_asked_of_empty_files(
    dataset: str, score: Score, write: Write, tmp_path: Path
) -> None:
    write(p="", g="")
    options = (
        "--slice=length",
        "--details",
        "--errors=e.tsv",
        "--per-example=e.jsonl",
        "--save=run",
    )
    assert score(dataset, *options).code == 0
    found = score(dataset, "--interval=plur", "--resamples=10")
    assert found.code == 0
    bounds = [line.partition("_ci: ")[2] for line in found.lines if "_ci: " in line]
    assert set(bounds) == {"[0.00000, 0.00000, 0.00000]"}


# -- intervals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", NAMES)
@pytest.mark.parametrize("kind", ["plur", "bootstrap"])
def test_every_data_set_has_intervals(dataset: str, kind: str, score: Score, write: Write) -> None:
    right, other = gold_of(dataset)
    gold = [right, other] * 20
    guesses = [right, other] * 12 + [other, right] * 8
    write(p="".join(f"{g}\n" for g in guesses), g="".join(f"{g}\n" for g in gold))
    options = (f"--interval={kind}", "--resamples=50", "--seed=42")
    found = json.loads(score(dataset, *options, "--json").out)
    assert any(low < found["scores"][key] < high for key, (low, high) in found["intervals"].items())
    printed = score(dataset, *options)
    ending = "_lower_ci: [" if kind == "plur" else "_ci: ["
    assert sum(ending in line for line in printed.lines) >= 1
    assert ("90 % covers 80 %" in printed.err) == (kind == "plur")


def test_levels_of_plur(score: Score, write: Write) -> None:
    write(p=PREDICTIONS * 9, g=TARGETS * 9)
    options = ("--interval=plur", "--resamples=20", "--seed=42")
    found = score("code2seq", *options, "--plur-levels=50,97.5")
    assert [line.count(",") for line in found.lines if "_ci: " in line] == [1] * 6
    assert "50 % covers 0 %, 97.5 % covers 95 %" in found.err
    assert "lower bound of 50 % lies above the upper one" in found.err
    assert "_ci" not in score("code2seq", "--interval=plur", "--resamples=1").out
    assert score("code2seq", *options, "--quiet").err == ""


# -- slices, details, files -----------------------------------------------------------------------


def slices(score: Score, dataset: str, column: str) -> dict[str, Any]:
    found = json.loads(score(dataset, f"--slice={column}", "--json").out)
    return dict(found["slices"][column])


def test_slices(score: Score, write: Write) -> None:
    write(p="get name\nset\nx y z a b\n", g="get name\nset size\na b c d e\n")
    by_length = slices(score, "code2seq", "length")
    assert {key: entry["n"] for key, entry in by_length.items()} == {"2": 2, "4-5": 1}
    assert by_length["2"]["scores"]["precision"] == 1.0
    assert by_length["2"]["scores"]["recall"] == 0.75
    assert slices(score, "code2seq", "target_length") == by_length
    assert list(slices(score, "code2seq", "first_token")) == ["get", "set", "a"]
    assert list(slices(score, "code2seq", "first-token")) == ["get", "set", "a"]
    write(p="add_node a\nx\nNoOp\n", g="add_node a\ndel_node b\nNoOp\n")
    kinds = slices(score, "hoppity", "transformation")
    assert {key: entry["scores"]["total_acc"] for key, entry in kinds.items()} == {
        "add_node": 1.0,
        "del_node": 0.0,
        "other": 0.0,
    }
    write(p="a\tb\nc\n", g="b\nc\n")
    assert list(slices(score, "manysstubs4j", "candidates")) == ["2", "1"]
    write(p="CLASS_Correct\nCLASS_Correct\n", g="CLASS_Correct\nCLASS_Incorrect\n")
    by_class = slices(score, "cubert_function_docstring_classification", "class")
    assert {key: entry["scores"]["accuracy"] for key, entry in by_class.items()} == {
        "CLASS_Correct": 1.0,
        "CLASS_Incorrect": 0.0,
    }
    printed = score("cubert_function_docstring_classification", "--slice=class").out
    assert "by class" in printed


def test_confusion_matrix(score: Score, write: Write) -> None:
    dataset = "cubert_function_docstring_classification"
    write(
        p="CLASS_Correct\nCLASS_Incorrect\nfoo\nCLASS_Correct\n",
        g="CLASS_Correct\nCLASS_Correct\nCLASS_Incorrect\nCLASS_Correct\n",
    )
    assert json.loads(score(dataset, "--json").out)["extra"]["confusion"] == {
        "CLASS_Correct": {"CLASS_Correct": 2, "CLASS_Incorrect": 1},
        "CLASS_Incorrect": {"(other)": 1},
    }
    table = [
        "gold \\ predicted   1  2  3",
        "1 CLASS_Correct    2  1  0",
        "2 CLASS_Incorrect  0  0  1",
        "3 (other)",
    ]
    assert score(dataset, "--details").lines[-4:] == table
    assert score(dataset, "--details", "--format=table").lines[-4:] == table
    assert table[0] not in score(dataset, "--details", "--format=csv").lines
    assert "predicted" not in score(dataset).out


def test_top_k(score: Score, write: Write) -> None:
    write(p="a\tb\nb\tx\nx\ty\nname get\tget name\n", g="b\nb\nb\nget name\n")
    found = score("convattn", "-m", "topk", "--details", "--quiet")
    # The match behind a candidate of equal F1 is lost to the old score alone.
    assert "exact_match_percentage: 0.50000" in found.lines
    assert "exact_anywhere: 0.75000" in found.lines
    assert "top_1: 0.25000" in found.lines
    assert found.lines[-3:] == ["top-k    share", "1      0.25000", "2      0.75000"]
    assert json.loads(score("convattn", "--json").out)["extra"]["top_k"] == [0.25, 0.75]


def test_each_example_and_the_worst_ones(score: Score, write: Write, tmp_path: Path) -> None:
    write(p="a b\nx y\na c\n", g="a b\na b\na b\n")
    found = score("code2seq", "--per-example=each.jsonl", "--errors=wrong.tsv")
    assert "written to each.jsonl" in found.err
    assert "written to wrong.tsv" in found.err
    each = [json.loads(line) for line in (tmp_path / "each.jsonl").read_text().splitlines()]
    assert [record["scores"]["f1_score"] for record in each] == [1.0, 0.0, 0.5]
    assert [record["gold"] for record in each] == ["a b"] * 3
    assert (tmp_path / "wrong.tsv").read_text() == (
        "id\tf1_score\tprediction\tgold\n2\t0.0\tx y\ta b\n3\t0.5\ta c\ta b\n"
    )
    score("code2seq", "--errors=wrong.jsonl")
    wrong = [json.loads(line) for line in (tmp_path / "wrong.jsonl").read_text().splitlines()]
    assert wrong[0] == {"id": "2", "f1_score": 0.0, "prediction": "x y", "gold": "a b"}


def test_usual_bleu_beside_that_of_nltk(score: Score, write: Write) -> None:
    write(p="a b c d e\nf\n", g="a b c d e\nf\n")
    found = json.loads(score("funcom", "-m", "bleu(tokenize=none)", "--json").out)["scores"]
    assert found["bleu"] == pytest.approx(100)
    assert found["bleu_4"] < 80


# -- documents, runs, comparison ------------------------------------------------------------------


@pytest.mark.parametrize("dataset", NAMES)
def test_runs_of_every_data_set_are_documents_that_can_be_compared(
    dataset: str, score: Score, write: Write, assay: Callable[..., Any]
) -> None:
    right, other = gold_of(dataset)
    gold = [right, other] * 15
    worse = [right, other] * 5 + [other, right] * 10
    better = [right, other] * 14 + [other, right]
    write(
        p="".join(f"{g}\n" for g in worse),
        q="".join(f"{g}\n" for g in better),
        g="".join(f"{g}\n" for g in gold),
    )
    found = score(dataset, "--json", "--save=runs/worse", "--resamples=100")
    document = json.loads(found.out)
    schema = json.loads(
        (importlib.resources.files("assay.report") / "schema" / "result-1.json").read_text()
    )
    jsonschema.validate(document, schema)
    assert document["extra"]["dataset"] == dataset
    score(dataset, "--save=runs/better", "--resamples=100", p="q")
    compared = assay("compare", "runs/worse", "runs/better", "--resamples=200", "--json")
    assert compared.code == 0
    assert '"better"' in compared.out
    assert (
        "is better than p by"
        in assay("compare", "runs/worse", "runs/better", "--resamples=200").out
    )
    assert assay("diff", "runs/worse", "runs/better").code == 0
    assert assay("verify", "runs/worse").code == 0


def test_jobs_change_nothing(score: Score, write: Write) -> None:
    write(p="x\tget name\nset\n" * 5_000, g="get name\nset size\n" * 5_000)
    assert score("convattn", "--jobs=2", "--quiet").out == score("convattn", "--quiet").out


def test_the_list_of_data_sets(assay: Callable[..., Any]) -> None:
    found = assay("code", "datasets")
    assert found.code == 0
    assert all(f"  {name}" in found.out for name in NAMES)
    assert "exactly one" in found.out


def test_columns_that_can_be_computed_need_not_be_stored(
    score: Score, write: Write, assay: Callable[..., Any]
) -> None:
    gold = "CLASS_Correct\nCLASS_Incorrect\n" * 20
    write(p="CLASS_Correct\n" * 40, q=gold, g=gold)
    dataset = "cubert_function_docstring_classification"
    score(dataset, "--save=runs/p")
    score(dataset, "--save=runs/q", p="q")
    compared = assay("compare", "runs/p", "runs/q", "--slice=class", "--resamples=100", "--json")
    sliced = {
        d["slice"][1]: d["difference"]
        for d in json.loads(compared.out)["slices"]
        if d["key"] == "accuracy"
    }
    assert sliced == {"CLASS_Correct": 0.0, "CLASS_Incorrect": 1.0}
    listed = json.loads(assay("diff", "runs/p", "runs/q", "--slice=class", "--json").out)["slices"]
    assert listed["class"]["CLASS_Incorrect"]["fixed"] == 20
    unknown = assay("compare", "runs/p", "runs/q", "--slice=clas")
    assert unknown.code == 2
    assert "did you mean 'class'?" in unknown.err
