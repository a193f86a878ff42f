# SPDX-License-Identifier: Apache-2.0
"""What `assay code score` refuses: one line with the place and what to do, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Score = Callable[..., tuple[int, str, str]]
Write = Callable[..., None]

REPAIR = "cubert_variable_misuse_repair"
UNPOINTED = "cubert_variable_misuse_repair_unpointed"
EXCEPTION = "cubert_exception_classification"
RAW = "--cubert_vmr_raw_test_total_"

CASES: list[tuple[str, str, str, str, tuple[str, ...], tuple[str, ...]]] = [
    # name, data set, predictions, gold, options, what the message holds
    ("unequal counts", "code2seq", "a\n", "a\nb\n", (),
     ("p and g do not line up", "1 prediction,", "2 gold")),
    ("a break that one side has", "code2seq", "a\nb\x0cc\n", "a\nb c\n", (),
     ("p and g do not line up", "3 predictions, 2 gold", "p, line 2 ends in U+000C", "--line-breaks lf")),
    ("a break of three bytes", "code2seq", "a\nb\n", "a\n\u2028b\n", (),
     ("2 predictions, 3 gold", "g, line 2 ends in U+2028")),
    ("a blank line too many", "code2seq", "a\nb\n\n", "a\nb\n", (), ("p has a blank line too many",)),
    ("no predictions", "code2seq", "", "a\nb\n", (), ("p and g do not line up", "0 predictions, 2 gold")),
    ("no gold", "code2seq", "a\nb\n", "", (), ("p and g do not line up", "2 predictions, 0 gold")),
    ("several candidates", "code2seq", "a\nb\tc\n", "a\nb\n", (),
     ("p, line 2", "2 candidates", "exactly one", "--cut-beams 1")),
    ("an empty second candidate", "great_var_misuse", "NO_BUG\t\n", "NO_BUG\n", (), ("p, line 1", "2 candidates")),
    ("too few candidates", "funcom", "a\tb\nc\n", "a\nb\n", ("--top_n_beam_search=2",),
     ("p, line 2", "1 of 2 candidates")),
    ("top_n where it must be 1", "code2seq", "a\n", "a\n", ("--top_n_beam_search=2",),
     ("--top_n_beam_search 2", "code2seq_dataset", "--cut-beams 1")),
    ("top_n 0 where it must be 1", EXCEPTION, "a\n", "a\n", ("--top_n_beam_search", "0"), ("--top_n_beam_search 0",)),
    ("comments without lines", "funcom", "", "", (), ("p", "no lines")),
    ("unknown label", EXCEPTION, "a\nb\n", "CLASS_KeyError\nCLASS_KeyEror\n", (),
     ("g, line 2", "'KeyEror'", "did you mean 'CLASS_KeyError'?")),
    ("a label of another set", "cubert_swapped_operand_classification", "a\n", "CLASS_Xyz\n", (),
     ("g, line 1", "'Xyz'", "Correct, Swapped operands")),
    ("a label without its mark", EXCEPTION, "a\n", "KeyError\n", (), ("g, line 1", "'KeyError'", "'CLASS_KeyError'")),
    ("the label None", EXCEPTION, "a\n", "CLASS_None\n", (), ("g, line 1", "'None'")),
    ("a pointer without number", REPAIR, "a\na\n", "POINTER(1,x)\nPOINTER(,x)\n", (), ("g, line 2", "POINTER(,x)", "location")),
    ("a pointer without comma", REPAIR, "a\n", "POINTER(4)\n", (), ("g, line 1", "POINTER(4)")),
    ("location 1 in gold", UNPOINTED, "a\n", "ERROR_LOCATION_1 x\n", (), ("g, line 1", "ERROR_LOCATION_1")),
    ("neither bug nor free", "great_var_misuse", "a\n", "NO_BUG \n", (), ("g, line 1", "NO_BUG", "POINTER(")),
    ("unpointed, pointed gold", "great_var_misuse_unpointed", "a\n", "POINTER(4,x)\n", (), ("g, line 1", "ERROR_LOCATION_")),
    ("one raw total", REPAIR, "a\n", "POINTER(1,x)\n", (RAW + "examples=5",), ("belong together", RAW + "buggy_examples")),
    ("the other raw total", REPAIR, "a\n", "POINTER(1,x)\n", (RAW + "buggy_examples=5",), ("belong together",)),
    ("unknown data set", "code2sec", "a\n", "a\n", (), ("'code2sec'", "did you mean 'code2seq_dataset'?", "funcom_dataset")),
    ("too short a name", "cubert", "a\n", "a\n", (), ("'cubert'", "cubert_exception_classification_dataset")),
    ("rules of another set", "code2seq", "a\n", "a\n", ("--rules=ogb-official",), ("--rules ogb-official", "code2seq_dataset", "code2seq-original")),
    ("no candidates left", "convattn", "a\n", "a\n", ("--cut-beams=0",), ("--cut-beams 0",)),
    ("unknown column", "convattn", "a\n", "a\n", ("--slice=lenght",), ("'lenght'", "did you mean 'length'?", "transformation")),
    ("unknown metric", "convattn", "a\n", "a\n", ("-m", "topq"), ("'topq'", "did you mean 'topk'?")),
    ("a level too low", "code2seq", "a\n", "a\n", ("--interval=plur", "--plur-levels=49"), ("49 %", "from 50 to below 100")),
    ("no name", "", "a\n", "a\n", (), ("unknown data set ''", "funcom_dataset")),
    ("fewer digits than none", "code2seq", "a\n", "a\n", ("--digits=-1",), ("--digits", "-1")),
    ("a list of errors of no kind", "code2seq", "a\n", "b\n", ("--errors=wrong.txt",), ("wrong.txt", ".jsonl or .tsv")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dataset", "p", "g", "options", "parts"), CASES, ids=[case[0] for case in CASES]
)
def test_bad_input_is_refused(
    name: str,
    dataset: str,
    p: str,
    g: str,
    options: tuple[str, ...],
    parts: tuple[str, ...],
    score: Score,
    write: Write,
    tmp_path: Path,
) -> None:
    write(p=p, g=g)
    code, out, err = score(dataset, *options, "--save=run", "--per-example=each.jsonl")
    assert code == 2
    assert out == ""
    assert err.startswith("assay: ")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g", "p"], "nothing half-written"


BYTES = [
    # name                   bytes of the predictions        what the message holds
    ("not UTF-8",            b"get\nna\xefve\n",             ("p, line 2, column 3", "0xEF", "iconv")),
    ("UTF-16",               "get\n".encode("utf-16"),        ("p", "UTF-16")),
    ("cut off in a letter",  b"get\nna\xc3",                 ("p, line 2", "middle of a character")),
    ("an archive",           b"PK\x03\x04" + b"x" * 40,      ("p", "zip archive")),
    ("damaged gzip",         b"\x1f\x8b\x08\x00" + b"x" * 9, ("p",)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "parts"), BYTES, ids=[case[0] for case in BYTES])
def test_bytes_that_are_no_text_are_refused(
    name: str, data: bytes, parts: tuple[str, ...], score: Score, write: Write
) -> None:
    write(p=data, g="a\nb\n")
    code, out, err = score("code2seq")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(part in err for part in parts), err


@pytest.mark.parametrize("p", ["nothing-*", "[x]y", "nothing", "", "."])
def test_files_that_are_not_there_are_refused(p: str, score: Score, write: Write) -> None:
    write(g="a\n")
    code, out, err = score("code2seq", p=p)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_side_that_is_not_given_is_asked_for(
    write: Write, assay: Callable[..., tuple[int, str, str]]
) -> None:
    write(p="a\n")
    code, out, err = assay("code", "score", "--prediction_file=p")
    assert (code, out) == (2, "")
    assert "--target_file" in err
    code, out, err = assay("code", "score", "--target_file=p")
    assert (code, out) == (2, "")
    assert "--prediction_file" in err


def test_a_folder_that_cannot_be_written_is_told(score: Score, write: Write) -> None:
    write(p="a\n", g="b\n", file="")
    code, out, err = score("code2seq", "--errors=file/wrong.tsv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "file/wrong.tsv" in err
