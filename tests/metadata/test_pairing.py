# SPDX-License-Identifier: Apache-2.0
"""Several files of one field: the one that has gold of its name is scored, the others are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.metadata.conftest import Command


def write(**files: str) -> None:
    """Files by side and name, `p__year` for the file `year` of the predictions."""
    for name, text in files.items():
        path = Path(name.replace("__", "/").replace("_tsv", ".tsv"))
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("compat", [(), ("--compat", "meta-eval")])
def test_a_file_without_ending_does_not_take_the_place_of_its_sibling(
    compat: tuple[str, ...], assay: Command
) -> None:
    write(p__year_tsv="p1\t1999\n", p__year="p1\t2001\n", g__year_tsv="p1\t1999\n")
    found = assay("score", "--input", "p", "--truth", "g", "--ci", "0", *compat)
    assert "\nyear\t1.000\t1.000\n" in found.out
    assert "No truth file named year. Skipping" in found.err + found.out


def test_every_file_without_gold_is_named(assay: Command) -> None:
    write(p__a="", p__b_tsv="p1\tx\n", p__b="p1\ty\n", p__c="p1\tz\n", g__c="p1\tz\n")
    found = assay("score", "--input", "p", "--truth", "g", "--compat", "meta-eval")
    told = "".join(f"No truth file named {name}. Skipping\n" for name in ("a", "b", "b.tsv"))
    assert found.out.startswith(told + "\nMetric\t")


def test_a_file_whose_gold_is_derived_is_scored_and_not_skipped(assay: Command) -> None:
    write(p__titleNormalized_tsv="p1\ton lists\n", g__title_tsv="p1\tOn Lists!\n")
    given = ("score", "--input", "p", "--truth", "g", "--ci", "0")
    found = assay(*given, "--derive", "titleNormalized=title")
    assert "\ntitleNormalized\t1.000\t1.000\n" in found.out
    assert "Skipping" not in found.err


def test_a_field_is_not_derived_from_either_of_two_files(assay: Command) -> None:
    write(p__title_tsv="p1\tA\n", p__title="p1\tB\n", g__short_tsv="p1\ta\n")
    found = assay("score", "--input", "p", "--truth", "g", "--derive", "short=title:title")
    assert (found.code, found.out) == (2, "")
    assert "title and title.tsv both hold the field 'title'" in found.err


def test_details_of_merged_ids_stand_in_file_order(assay: Command) -> None:
    write(p__t_tsv="p2\tB\np1\tA\np2\tC\n", g__t_tsv="p1\tA\np2\tB\n")
    given = ("score", "--input", "p", "--truth", "g", "--ci", "0")
    assert assay(*given, "--duplicate-ids", "merge").code == 0
    rows = Path("output/details/t-labels.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert [row.split("\t")[0] for row in rows] == ["p2", "p2", "p2", "p1", "p1"]
