# SPDX-License-Identifier: Apache-2.0
"""Run folders that something happened to: every command says so, `verify` says where."""

from __future__ import annotations

import copy
import errno
import io
import json
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import AssayError, InputError
from assay.pipeline.compare import compare
from assay.pipeline.diff import diff
from assay.pipeline.evaluate import evaluate
from assay.pipeline.gate import gate
from assay.pipeline.runs import load_run
from assay.pipeline.verify import verify

Damage = Callable[[Path], Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs and two runs, `whole` and `other`."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "gold.tsv").write_text("id\tgold\ttopic\n1\ta b\tx\n2\tc d\ty\n3\te f\tx\n")
    (folder / "said.tsv").write_text("id\tprediction\n1\ta b\n2\tc x\n3\te f\n")
    for name in ("whole", "other"):
        evaluate(
            "text",
            str(folder / "said.tsv"),
            str(folder / "gold.tsv"),
            metrics=["exact", "bleu"],
            slices=["topic"],
            system=name,
            save=folder / name,
        )
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A copy of the run `whole`, to be damaged."""
    return Path(shutil.copytree(made / "whole", tmp_path / "run"))


def rows(change: Callable[[Any], Any]) -> Damage:
    """Another array in place of the rows."""

    def damage(run: Path) -> None:
        np.save(run / "rows.npy", change(np.load(run / "rows.npy")))

    return damage


def document(change: Callable[[dict[str, Any]], Any]) -> Damage:
    """Another document; `change` works on the old one."""

    def damage(run: Path) -> None:
        data = json.loads((run / "run.json").read_text())
        change(data)
        (run / "run.json").write_text(json.dumps(data))

    return damage


def cut(name: str, size: int) -> Damage:
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[:size])


def edited(values: Any) -> Any:
    values[1, 0] = 1.0  # the wrong example becomes a right one
    return values


def undefined(values: Any) -> Any:
    values[0] = np.nan
    return values


def archived(run: Path) -> None:
    np.savez(run / "rows", np.load(run / "rows.npy"))
    (run / "rows.npz").replace(run / "rows.npy")


ROWS: list[tuple[str, Damage, str]] = [
    # name, damage, what is said by every command that loads the run
    ("rows gone", lambda run: (run / "rows.npy").unlink(), r"rows\.npy: cannot be read \(No such file"),
    ("rows cut off", cut("rows.npy", 150), "not a whole array"),
    ("rows of a torn header", lambda run: (run / "rows.npy").write_bytes((run / "rows.npy").read_bytes().replace(b"}", b" ", 1)), "not a whole array"),
    ("rows empty", cut("rows.npy", 0), "not a whole array"),
    ("rows of objects", lambda run: np.save(run / "rows.npy", np.array([{}], dtype=object)), "not a whole array"),
    ("a pickle", lambda run: (run / "rows.npy").write_bytes(pickle.dumps([1])), "not a whole array"),
    ("an archive", archived, "not a whole array"),
    ("rows too many", rows(lambda r: np.vstack([r, r])), r"of shape \(6, 12\), not float64 of \(3, 12\)"),
    ("columns too few", rows(lambda r: r[:, :4]), r"of shape \(3, 4\)"),
    ("single precision", rows(lambda r: r.astype(np.float32)), "holds float32"),
    ("rows edited", rows(edited), r"rows\.npy gives exact 1\.0, run\.json says 0\.6666"),
    ("rows undefined", rows(undefined), "gives exact nan"),
]  # fmt: skip

DOCUMENTS: list[tuple[str, Damage, str]] = [
    ("no document", lambda run: (run / "run.json").unlink(), r"has no run\.json"),
    ("document cut off", cut("run.json", 99), "not a run .*line 5 column 16"),
    ("not UTF-8", lambda run: (run / "run.json").write_bytes((run / "run.json").read_bytes().replace(b"whole", b"wh\xf6le", 1)), "not a run .*can't decode byte 0xf6"),
    ("nested without end", lambda run: (run / "run.json").write_text("[" * 100_000), "not a run .*recursion"),
    ("not an object", lambda run: (run / "run.json").write_text("null"), "not a run; the run folder is"),
    ("some other object", lambda run: (run / "run.json").write_text("{}"), "not a run; the run folder is"),
    ("later schema", document(lambda d: d.update(schema="assay.result/2")), "this version reads assay.result/1"),
    ("other type", document(lambda d: d.update(task=5)), r"Expected `str`, got `int` - at `\$\.task`"),
    ("part missing", document(lambda d: d.pop("statistics")), "missing required field `statistics`"),
    ("part of a part missing", document(lambda d: d["statistics"].pop("n")), "missing required field `n`"),
    ("score is text", document(lambda d: d["scores"].update(exact="1")), "Expected `float . null`, got `str`"),
    ("bound of a slice missing", document(lambda d: d["slices"]["topic"]["x"]["intervals"].update(bleu=[1.0])), "Expected `array` of length 2"),
    ("score of another name", document(lambda d: d["metrics"][1]["scores"][0].update(name="blue")), "bleu has other scores"),
    ("a key twice", document(lambda d: d["metrics"][1]["scores"][0].update(key="exact")), "metrics and scores do not agree"),
    ("unknown task", document(lambda d: d.update(task="texts")), "unknown task 'texts'; did you mean 'text'"),
]  # fmt: skip

NAMES = [d[0] for d in [*ROWS, *DOCUMENTS]]


@pytest.mark.parametrize(("name", "damage", "said"), [*ROWS, *DOCUMENTS], ids=NAMES)
def test_no_command_works_on_a_damaged_run(
    name: str, damage: Damage, said: str, made: Path, run: Path
) -> None:
    damage(run)
    with pytest.raises(InputError, match=said) as seen:
        load_run(run)
    assert "\n" not in str(seen.value)
    assert str(run) in str(seen.value)
    for work in (compare, diff, lambda a, b: gate(b, baseline=a), lambda a, b: gate(b)):
        with pytest.raises(InputError, match=said):
            work(made / "other", run)


def test_examples_that_are_no_text_are_refused_with_their_line(made: Path, run: Path) -> None:
    whole = (run / "examples.jsonl").read_bytes().splitlines(keepends=True)
    for damaged in (b'{"id": "\xff"}\n', b'{"id": ' + b"[" * 100_000 + b"\n"):
        (run / "examples.jsonl").write_bytes(b"".join([whole[0], damaged, whole[2]]))
        with pytest.raises(InputError, match=r"examples\.jsonl, line 2: .*damaged"):
            diff(made / "other", run)


def places(value: Any, *above: str | int) -> Iterator[tuple[str | int, ...]]:
    """Where something stands in a document: keys and positions from the top down."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*above, key)
        if isinstance(part, (dict, list)):
            yield from places(part, *above, key)


@pytest.mark.parametrize("value", [None, True, -1, 1e308, "x", [], [1], {}, {"a": 1}], ids=repr)
def test_any_part_may_be_anything(value: Any, made: Path, run: Path) -> None:
    whole = json.loads((run / "run.json").read_text())
    for place in places(whole):
        data = copy.deepcopy(whole)
        part = data
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        (run / "run.json").write_text(json.dumps(data))
        # It is refused in one line, or it does no harm.
        try:
            load_run(run).to_text()
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - it need not be raised
        if place[0] == "options":
            try:
                verify(run)
            except AssayError as error:
                assert "\n" not in str(error)  # noqa: PT017


FINDINGS: list[tuple[str, Damage, list[str]]] = [
    ("whole", lambda run: None, []),
    ("rows gone", ROWS[0][1], ["cannot be read (No such file or directory)"]),
    ("rows edited", rows(edited), ["rows.npy: the row of example 2 differs"]),
    ("score edited", document(lambda d: d["scores"].update(exact=0.9)), ["scores.exact was 0.9, now 0.6666"]),
    ("bound edited", document(lambda d: d["intervals"]["bleu"].__setitem__(0, 99.0)), ["intervals.bleu[0] was 99.0, now "]),
    ("slice edited", document(lambda d: d["slices"]["topic"]["x"]["scores"].update(exact=0.5)), ["slices.topic.x.scores.exact was 0.5, now 1.0"]),
    ("macro edited", document(lambda d: d["macros"]["topic"]["scores"].update(exact=0.1)), ["macros.topic.scores.exact was 0.1, now 0.5"]),
    ("slice left out", document(lambda d: d["slices"]["topic"].pop("y")), ["slices.topic.y was undefined, now {"]),
    ("count edited", document(lambda d: d["counts"].update(gold=9)), ["counts.gold was 9, now 3"]),
    ("method edited", document(lambda d: d["statistics"]["methods"].update(exact="bootstrap")), ["statistics.methods.exact was 'bootstrap', now 'wilson'"]),
    ("metric renamed", document(lambda d: d["metrics"][0].update(text="wer")), ["metrics[0].text was 'wer', now 'exact'"]),
    ("signature edited", document(lambda d: d.update(signature="text|n:9")), ["signature was 'text|n:9', now 'text|n:3"]),
    ("gold digest edited", document(lambda d: d.update(gold_sha256="0")), ["gold_sha256 was '0', now "]),
    ("example edited", lambda run: (run / "examples.jsonl").write_text((run / "examples.jsonl").read_text().replace("c x", "c d")), ["examples.jsonl, line 2: differs from the inputs"]),
    ("example lost", cut("examples.jsonl", 60), ["examples.jsonl, line 1: differs"]),
    ("examples gone", lambda run: (run / "examples.jsonl").unlink(), ["examples.jsonl: cannot be read"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "damage", "said"), FINDINGS, ids=[f[0] for f in FINDINGS])
def test_verify_names_what_differs(name: str, damage: Damage, said: list[str], run: Path) -> None:
    damage(run)
    found = verify(run).findings
    assert len(found) == len(said), found
    for finding, part in zip(found, said, strict=True):
        assert part in finding


@pytest.mark.parametrize("size", [0, 60])
def test_examples_that_are_lost_are_missed_where_they_are_needed(
    size: int, made: Path, run: Path
) -> None:
    cut("examples.jsonl", size)(run)
    with pytest.raises(InputError, match=r"examples\.jsonl"):
        diff(made / "other", run)


@pytest.mark.parametrize("name", ["run.json", "rows.npy", "examples.jsonl"])
def test_a_file_that_may_not_be_read_is_not_called_damaged(
    name: str, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = io.open

    def opened(file: Any, *args: Any, **options: Any) -> Any:
        if str(file) == str(run / name):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return real(file, *args, **options)

    for place in ("io.open", "builtins.open"):
        monkeypatch.setattr(place, opened)
    with pytest.raises(InputError, match=r"\(Permission denied\); check its owner and mode"):
        diff(load_run(run), load_run(run))
