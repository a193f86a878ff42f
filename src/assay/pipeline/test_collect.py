# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.aggregate.interval import percentile_interval
from assay.aggregate.resample import bootstrap_macro
from assay.core.errors import OutputError
from assay.pipeline.evaluate import evaluate

N = 60


def scored(**options: Any) -> assay.Result:
    """Sixty examples in five documents, of two topics."""
    rng = np.random.default_rng(8)
    words = list("abcdef")
    rows = [
        {
            "gold": " ".join(rng.choice(words, 6)),
            "prediction": " ".join(rng.choice(words, 6)),
            "topic": "xy"[i % 2],
            "document": f"d{i % 5}",
        }
        for i in range(N)
    ]
    return evaluate("text", rows, rows, metrics=["token_f1"], slices=["topic"], **options)


def test_macro_intervals_by_cluster_count_clusters() -> None:
    found = scored(cluster="document")
    clusters, codes = np.arange(N) % 5, np.arange(N) % 2
    (metric,), rows = found.layout.metrics, found.rows
    assert rows is not None
    drawn = bootstrap_macro(metric, rows, codes, 2, clusters=clusters)
    # Five units, not sixty: few clusters vary less in resamples than in truth.
    wanted = percentile_interval(drawn["token_f1"], n=5).bounds
    assert found.document.macros["topic"].intervals["token_f1"] == wanted
    assert wanted != percentile_interval(drawn["token_f1"], n=N).bounds


@pytest.mark.parametrize("interval", ["auto", "bootstrap", "poisson"])
def test_too_few_resamples_are_remarked_on(interval: str) -> None:
    def said(**options: Any) -> bool:
        warnings = scored(interval=interval, **options).document.warnings
        return any("too few resamples for a 95 % interval (5)" in text for text in warnings)

    assert said(resamples=5)
    assert not said(resamples=39)
    assert not said(resamples=5, ci=0)


def test_where_nothing_is_resampled_nothing_is_remarked() -> None:
    plain = evaluate("text", ["a", "b"], ["a", "c"], metrics=["exact"], resamples=1, system="A")
    assert not plain.document.warnings
    assert not assay.compare(plain, plain, resamples=1, trials=1).document.warnings
    drawn = assay.compare(plain, plain, resamples=2, trials=10, test="randomisation")
    assert [text.partition(" (")[0] for text in drawn.document.warnings] == [
        "too few resamples for a 95 % interval",
        "too few trials to find anything at 0.05",
    ]


# -- what was read is not written over -------------------------------------------------------


def written(folder: Path) -> tuple[Path, bytes]:
    path = folder / "said.jsonl"
    path.write_text('{"prediction": "a", "gold": "a"}\n')
    return path, path.read_bytes()


@pytest.mark.parametrize("pattern", [False, True])
def test_scores_are_not_written_over_the_input(pattern: bool, tmp_path: Path) -> None:
    path, before = written(tmp_path)
    given = str(tmp_path / "s*.jsonl") if pattern else path
    with pytest.raises(OutputError, match="is an input of this run; choose another name"):
        evaluate("text", given, metrics=["exact"], per_example=path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_does_not_replace_the_folder_it_reads(tmp_path: Path) -> None:
    path, _ = written(tmp_path)
    evaluate("text", path, metrics=["exact"], save=tmp_path / "run")
    held = tmp_path / "run" / "examples.jsonl"
    before = held.read_bytes()
    with pytest.raises(OutputError, match=r"lies in .*, which would be replaced"):
        evaluate("text", held, metrics=["exact"], save=tmp_path / "run")
    assert held.read_bytes() == before
    evaluate("text", held, metrics=["exact"], save=tmp_path / "again")


# -- a file that cannot be opened ------------------------------------------------------------


@pytest.mark.parametrize(("option", "name"), [("save", "run"), ("per_example", "x.tsv")])
def test_a_place_that_fills_up_before_the_first_byte_is_named(
    option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = written(tmp_path)
    opened = Path.open

    def full(self: Path, mode: str = "r", *given: Any, **more: Any) -> Any:
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(self, mode, *given, **more)

    monkeypatch.setattr(Path, "open", full)
    target = tmp_path / "new" / name
    options: dict[str, Any] = {option: target}
    with pytest.raises(OutputError, match=r"new.* cannot be written \(No space left on device\)"):
        evaluate("text", path, metrics=["exact"], **options)
    assert list(tmp_path.iterdir()) == [path]
