# SPDX-License-Identifier: Apache-2.0
"""Confidence scans, GROBID's match modes and TEI files, and the normalisers, as really run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assay import evaluate
from assay.cli.root import root
from assay.tasks.metadata.curve import curve_text
from assay.tasks.metadata.extracted import read_tei
from assay.tasks.metadata.labels import Labels, parse_labels
from assay.tasks.metadata.match import (
    Match,
    base_form,
    levenshtein,
    ratcliff_obershelp,
    soft_form,
)
from assay.tasks.metadata.normalise import parse_name, title, venue
from assay.tasks.metadata.test_oracles import case, expected

MODES = ("strict", "soft", "levenshtein", "ratcliff_obershelp")


@pytest.mark.parametrize("name", ["confidence-scan", "confidence-scan-bins"])
def test_the_scan_gives_the_old_curve(name: str, tmp_path: Path) -> None:
    folder, wanted = case(name), expected(name)
    argv = ["metadata", "score", "--scored", folder / "scored.tsv", "--truth", folder / "truth.tsv"]
    argv += ["--output", tmp_path, "--ci", "0", "--duplicates", "reference", "--json"]
    argv += ["--bins", wanted["args"]["bins"]]
    done = CliRunner().invoke(root, list(map(str, argv)), catch_exceptions=False)
    assert done.exit_code == 0
    curve = json.loads(done.stdout)["extra"]["curves"]["truth"]
    approx = [
        [v if v is None else pytest.approx(v, abs=1e-9) for v in p]
        for p in wanted["expected"]["curve"]
    ]
    assert curve["points"] == approx
    area = wanted["expected"]["average_precision"]
    assert curve["average_precision"] == pytest.approx(area, abs=1e-9)
    lines = (tmp_path / "PR-curve.tsv").read_text().lower()
    given = (folder / "expected-curve.tsv").read_text().lower()
    # The reference has one row per prediction, tied ones included; ours has one per threshold.
    assert lines.splitlines() == list(dict.fromkeys(given.splitlines()))
    assert (tmp_path / "PR-curve.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("mode", MODES)
def test_pairs_of_strings_by_grobids_modes(mode: str) -> None:
    for pair in expected("grobid-match-modes")["expected"]["pairs"]:
        rule = Match.parse(mode)
        tally = rule.tally([pair["pred"]], [pair["gold"]], "set")
        outcome = {(1, 1, 1): "tp", (0, 0, 0): "skipped", (0, 0, 1): "fn"}.get(tally, "fp")
        wanted = (pair["outcome"] or {}).get(mode) or "skipped"
        assert outcome == wanted, pair


def test_forms_and_similarities_of_grobid() -> None:
    for pair in expected("grobid-match-modes")["expected"]["pairs"]:
        gold, prediction = base_form(pair["gold"]), base_form(pair["pred"])
        assert (gold, prediction) == (pair["gold_norm"], pair["pred_norm"])
        assert soft_form(pair["gold"]) == pair["gold_soft"]
        if gold or prediction:
            assert levenshtein(gold, prediction) == pytest.approx(pair["levenshtein_similarity"])
            assert ratcliff_obershelp(gold, prediction) == pytest.approx(pair["ratcliff_obershelp"])


@pytest.mark.parametrize("mode", MODES)
def test_a_corpus_by_grobids_modes_and_counting(mode: str) -> None:
    wanted = expected("grobid-match-modes")["expected"]["corpus"][mode]
    base = case("baseline-acl-grobid")
    sides = []
    for side in ("input", "truth"):
        titles = _values(base / side / "titleExact.tsv")
        authors = _values(base / side / "authorLastNameExact.tsv")
        ids = _values(base / "truth" / "titleExact.tsv")
        sides.append(
            [{"id": i, "title": titles.get(i, []), "authors": authors.get(i, [])} for i in ids]
        )
    found = evaluate(
        "metadata",
        *sides,
        ci=0,
        derive=["first_author=authors"],
        match=[f"title={mode}", f"authors={mode}", f"first_author=first:{mode}"],
    ).scores
    for name, scores in wanted["fields"].items():
        for score in ("precision", "recall", "f1"):
            assert found[f"{name}.{score}"] == pytest.approx(scores[score], abs=1e-9)
            assert found[f"{name}.micro_{score}"] == pytest.approx(scores[score], abs=1e-9)
    for kind in ("micro", "macro"):
        for score in ("precision", "recall", "f1"):
            assert found[f"{kind}_{score}"] == pytest.approx(wanted[kind][score], abs=1e-9)
    assert found["papers_right"] == pytest.approx(wanted["instance_recall"], abs=1e-9)


def _values(path: Path) -> dict[str, list[str]]:
    labels: Labels = parse_labels(path.read_bytes(), path)
    return {labels.id_of(i): labels.list_of(i) for i in range(len(labels))}


def test_a_tei_file_of_grobid() -> None:
    for file, wanted in expected("grobid-tei")["expected"].items():
        path = case("grobid-tei") / file
        found, meta = read_tei(path.read_bytes(), path), wanted["metadata"]
        assert found.title == meta["title"]
        assert found.venue == meta["venue"]
        assert found.year == (str(meta["year"]) if meta["year"] else "")
        assert [_author(a) for a in found.authors] == meta["authors"]
        references = [
            {
                "title": r.title,
                "venue": r.venue,
                "year": int(r.year or 0),
                "authors": [_author(a) for a in r.authors],
            }
            for r in found.references
        ]
        assert references == wanted["bibs"]


def _author(author: Any) -> dict[str, Any]:
    return {"first": author.first, "middle": list(author.middle), "last": author.last}


def test_titles_venues_and_names() -> None:
    rows = expected("normalisers")["expected"]["rows"]
    assert rows
    for row in rows:
        text = row["input"]
        assert title(text) == row["title"], text
        assert venue(text) == row["venue"], text
        author = row["author"]
        name = parse_name(text)
        if "first" not in author:  # the old program stops at a name of blanks alone
            assert name.first + name.last == ""
            continue
        assert (name.first, list(name.middle), name.last) == (
            author["first"],
            author["middle"],
            author["last"],
        ), text
        assert name.last_normalised() == author["lastNameNormalized"], text
        assert name.full() == author["fullName"], text
        assert name.full_normalised() == author["fullNameNormalized"], text
        assert name.initial_normalised() == author["lastNameFirstInitialNormalized"], text


def test_the_text_of_a_curve_has_empty_fields_where_undefined() -> None:
    assert curve_text([[0.5, math.nan, 0.25]]).splitlines()[1] == "0.5\t\t0.25"


@pytest.mark.parametrize("side", ["input", "truth"])
@pytest.mark.parametrize("name", ["acl-grobid", "acl-scienceParse", "dblp-scienceParse"])
def test_the_shipped_titles_are_normalised_as_shipped(name: str, side: str, tmp_path: Path) -> None:
    folder = case(f"baseline-{name}") / side
    argv = ["metadata", "normalise", "titles", folder / "titleExact.tsv", tmp_path / "made.tsv"]
    done = CliRunner().invoke(root, list(map(str, argv)), catch_exceptions=False)
    assert done.exit_code == 0
    # Some shipped rows end in a TAB, which stands for no value.
    wanted = (folder / "titleNormalized.tsv").read_bytes().replace(b"\t\n", b"\n")
    assert (tmp_path / "made.tsv").read_bytes() == wanted
