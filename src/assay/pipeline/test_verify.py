# SPDX-License-Identifier: Apache-2.0
"""Which runs can be computed again, and from where. What differs is told in test_damage."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AssayError, InputError, UsageError
from assay.pipeline.evaluate import evaluate
from assay.pipeline.runs import load_run
from assay.pipeline.verify import verify


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("said.txt").write_text("a b\nc d\ne f\n")
    Path("gold.txt").write_text("a b\nc x\ne f\n")
    return tmp_path


def saved(predictions: object = "said.txt", gold: object = "gold.txt") -> Path:
    evaluate("text", predictions, gold, metrics=["exact", "bleu"], save="run", resamples=50)
    return Path("run")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_holds_as_long_as_its_inputs_do(folder: Path, jobs: int) -> None:
    run = saved()
    found = verify(run, jobs=jobs)
    assert (found.numbers, found.findings) == (6, ())  # two scores, each with two bounds


def test_an_input_that_has_changed_is_named_with_what_follows(folder: Path) -> None:
    run = saved()
    Path("said.txt").write_text("a b\nc x\ne f\n")
    findings = verify(run).findings
    assert findings[0] == "said.txt has changed since the run (SHA-256 differs)"
    assert any(f.startswith("scores.exact was 0.6666") and f.endswith("now 1.0") for f in findings)
    assert any(f.endswith("the row of example 2 differs") for f in findings)
    assert any(f.endswith("line 2: differs from the inputs") for f in findings)


def test_an_input_that_changed_no_number_is_named_too(folder: Path) -> None:
    run = saved()
    Path("gold.txt").write_text("a b\nc x\ne f")
    assert verify(run).findings == ("gold.txt has changed since the run (SHA-256 differs)",)


def test_relative_paths_start_where_they_are_told_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = saved().absolute()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(AssayError, match=r"said\.txt: no such file"):
        verify(run)
    assert verify(run, root=folder).findings == ()
    assert Path.cwd() != folder
    with pytest.raises(UsageError, match="--root nowhere cannot be entered"):
        verify(run, root="nowhere")


def test_the_ninth_digit_counts(folder: Path) -> None:
    run = saved()
    data = json.loads((run / "run.json").read_text())
    data["scores"]["exact"] *= 1 + 1e-9
    (run / "run.json").write_text(json.dumps(data))
    (finding,) = verify(run).findings
    assert finding.startswith("scores.exact was ")
    rows = np.load(run / "rows.npy")
    rows[2] *= 1 + 1e-9
    np.save(run / "rows.npy", rows)
    assert verify(run).findings[1].endswith("the row of example 3 differs")


def test_data_in_memory_cannot_be_read_again(folder: Path) -> None:
    run = saved(["a b"], ["a b"])
    with pytest.raises(UsageError, match="was made from data that is not in a file"):
        verify(run)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text("a b\nc x\ne f\n"))
    writer.start()
    run = saved(gold="pipe")
    writer.join()
    with pytest.raises(UsageError, match=r"made from pipe, which is no plain file"):
        verify(run)


def test_the_document_stands_for_its_folder(folder: Path) -> None:
    run = saved()
    assert load_run(run / "run.json").folder == run
    Path("run/examples.jsonl").write_text("")
    (finding,) = verify(run / "run.json").findings
    assert finding.startswith("run/examples.jsonl, line 1: differs")


def test_a_document_alone_can_be_verified_and_not_compared(folder: Path) -> None:
    shutil.copy(saved() / "run.json", "result.json")
    assert verify("result.json").findings == ()
    Path("said.txt").write_text("a b\nc x\ne f\n")
    assert verify("result.json").findings
    with pytest.raises(InputError, match=r"result\.json: is a result without its rows; give a "):
        load_run("result.json")


def test_a_run_of_a_file_whose_name_is_not_utf8_is_read_back(folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9")  # as the system gives such names to Python
    scored = evaluate("text", "said.txt", "gold.txt", metrics=["exact"], system=name, save="run")
    assert load_run("run").document == scored.document
    assert not verify("run").findings
