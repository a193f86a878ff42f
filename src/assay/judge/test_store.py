# SPDX-License-Identifier: Apache-2.0
"""Verdicts on disk: logs, sheets, and what a folder of both says."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import AssayError, InputError, OutputError, UsageError
from assay.core.judging import Item, Question, default_items
from assay.judge.log import VerdictLog, log_path, read_log
from assay.judge.sheets import SheetWriter, read_sheet, sheet_judge
from assay.judge.store import Store, final_verdict, read_store
from assay.judge.verdict import Answer, Purpose, Verdict, answer_of, judge_name, verdict_on

COMMAND = Question("command", "Correct command?", needs="structure")
STRUCTURE = Question("structure", "Correct structure?", about="structure")
ITEM = Item("7.1", "list file", "ls -a", ("ls",), "list files", "ls -a", "7")

HEADER = "description,prediction,template,correct template,correct command\n"


def said(
    answer: Answer,
    judge: str = "anna",
    *,
    at: int = 0,
    question: Question = COMMAND,
    purpose: Purpose = "",
    item: Item = ITEM,
) -> Verdict:
    time = f"2026-01-01T00:00:{at:02}Z"
    return verdict_on(item, question, answer, judge=judge, time=time, purpose=purpose)


# -- logs -----------------------------------------------------------------------------------------


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    given = [said("yes"), said("no", question=STRUCTURE), said("withdrawn")]
    with VerdictLog(tmp_path / "new" / "folder", "anna") as log:
        for verdict in given:
            log.append(verdict)
            assert list(read_log(log.path)) == given[: given.index(verdict) + 1]  # at once
    assert list(read_log(tmp_path / "new/folder/verdicts.anna.jsonl")) == given


@settings(max_examples=30)  # each writes and flushes files
@given(cut=st.integers(1, 400))
def test_a_torn_last_line_costs_nothing_that_was_acknowledged(cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with VerdictLog(folder, "anna") as log:
            log.append(said("yes"))
            whole = log.path.stat().st_size
            log.append(said("no", question=STRUCTURE))
            both = log.path.stat().st_size
        os.truncate(log.path, max(whole + 1, both - cut))
        kept = list(read_log(log.path))
        assert kept[0] == said("yes")
        with VerdictLog(folder, "anna") as again:
            assert again.verdicts == kept
            again.append(said("unsure"))
        assert list(read_log(log.path)) == [*kept, said("unsure")]


def test_git_is_told_to_keep_what_both_sides_added_unless_somebody_said_otherwise(
    tmp_path: Path,
) -> None:
    with VerdictLog(tmp_path / "new", "anna"), SheetWriter(tmp_path / "sheets", "anna"):
        pass
    assert (tmp_path / "new/.gitattributes").read_text() == "*.jsonl merge=union\n"
    assert [path.name for path in (tmp_path / "sheets").iterdir()] == ["manual.evaluations.anna"]
    (tmp_path / "own").mkdir()
    (tmp_path / "own/.gitattributes").write_text("*.jsonl text\n")
    with VerdictLog(tmp_path / "own", "anna"):
        assert (tmp_path / "own/.gitattributes").read_text() == "*.jsonl text\n"
    assert read_store(tmp_path / "new").facts == ()


def test_a_log_merged_from_two_machines_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    given = [said("yes", at=1), said("no", at=2), said("unsure", at=3)]
    with VerdictLog(tmp_path, "anna") as log:
        for verdict in (given[2], given[0], given[1], given[0]):
            log.append(verdict)
    assert read_log(log.path) == [given[0], given[0], given[1], given[2]]
    found = read_store(tmp_path).judges["anna"]
    assert [v.answer for v in found.values()] == ["unsure"]


def test_a_log_that_an_editor_has_saved_is_read_and_gone_on_with(tmp_path: Path) -> None:
    """With a byte order mark, and the line ends of another system."""
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes"))
    log.path.write_bytes(b"\xef\xbb\xbf" + log.path.read_bytes().replace(b"\n", b"\r\n"))
    with VerdictLog(tmp_path, "anna") as again:
        again.append(said("no"))
    assert read_log(log.path) == [said("yes"), said("no")]


def test_who_mends_a_damaged_log_can_go_on_in_the_same_process(tmp_path: Path) -> None:
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes"))
    whole = log.path.read_bytes()
    log.path.write_bytes(b"<<<<<<< HEAD\n" + whole)
    with pytest.raises(InputError, match="line 1: not a verdict"):
        VerdictLog(tmp_path, "anna")
    log.path.write_bytes(whole)
    with VerdictLog(tmp_path, "anna") as again:
        assert again.verdicts == [said("yes")]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = log_path(tmp_path, "anna")
    path.write_text("<<<<<<< HEAD\n{}\n")
    with pytest.raises(InputError, match=r"verdicts\.anna\.jsonl, line 1: not a verdict"):
        read_log(path)


def test_only_one_may_judge_under_a_name(tmp_path: Path) -> None:
    with VerdictLog(tmp_path, "anna"), VerdictLog(tmp_path, "bert"):
        with pytest.raises(UsageError, match="somebody is judging as 'anna' already"):
            VerdictLog(tmp_path, "anna")
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(_try_to_judge, (tmp_path,)) == 2
    VerdictLog(tmp_path, "anna").close()


def _try_to_judge(folder: Path) -> int:
    try:
        VerdictLog(folder, "anna").close()
    except AssayError as error:
        return error.exit_code
    return 0


def test_a_folder_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> int:  # root, who may run this, may write anywhere
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match=r"cannot be written \(Permission denied\)"):
        VerdictLog(tmp_path, "anna")
    with pytest.raises(OutputError, match=r"cannot be written \(Permission denied\)"):
        SheetWriter(tmp_path, "anna")


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes"))

        def full(file: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="the last answer was not kept"):
            log.append(said("no"))
        assert log.verdicts == [said("yes")]
    assert list(read_log(log.path)) == [said("yes")]


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_nothing_is_written_to_a_file_that_git_has_replaced(tmp_path: Path, how: str) -> None:
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes"))
        path = log.path
        kept = path.read_bytes()
        path.unlink()
        if how == "replaced":
            path.write_bytes(kept)
        with pytest.raises(OutputError, match="was replaced while it was in use"):
            log.append(said("no"))
        assert len(log.verdicts) == 1
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("no"))
        assert len(log.verdicts) == (2 if how == "replaced" else 1)


def test_a_file_in_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        VerdictLog(tmp_path / "file", "anna")


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", ".hidden", "x" * 65, "a\n", "-rf"])
def test_names_that_are_no_file_names_are_refused(name: str) -> None:
    if name == "a\n":
        assert judge_name(name) == "a"
        return
    with pytest.raises(UsageError, match="not a name for a judge"):
        judge_name(name)


def test_a_name_is_the_same_however_it_is_spelled(tmp_path: Path) -> None:
    assert judge_name("Zoe\u0301") == "Zo\u00e9"
    with pytest.raises(UsageError, match="not a name for a judge"):
        judge_name("\u5b57" * 67)  # 201 bytes: too long for the name of a file
    VerdictLog(tmp_path, "Anna").close()
    VerdictLog(tmp_path, "Anna").close()
    with pytest.raises(UsageError, match="somebody has judged as 'Anna'; write the name like that"):
        VerdictLog(tmp_path, "anna")
    assert not log_path(tmp_path, "anna").exists()


@pytest.mark.parametrize(
    "line",
    [b"\xff\n", b"[" * 3000 + b"\n", b"\0" * 9 + b"\n", b"[]\n", b"{}\n", b'{"id": 1}\n'],
    ids=["encoding", "nested", "zeros", "list", "nothing", "kind"],
)
def test_whatever_is_in_a_record_is_one_line_of_complaint(tmp_path: Path, line: bytes) -> None:
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes"))
    log.path.write_bytes(log.path.read_bytes() + line)
    with pytest.raises(InputError, match=r"anna\.jsonl, line 2: not a verdict \("):
        read_log(log.path)
    log.path.write_bytes(log.path.read_bytes()[: -len(line)] + b"\n \n")
    assert read_log(log.path) == [said("yes")]


@pytest.mark.parametrize("time", ["yesterday", "9999-12-31T23:59:59Z"])
def test_a_time_that_is_none_is_named(tmp_path: Path, time: str) -> None:
    with VerdictLog(tmp_path, "anna") as log:
        log.append(msgspec.structs.replace(said("yes"), time=time))
    with pytest.raises(InputError, match=f"verdict 1 has '{time}' for its time"):
        read_log(log.path)


def test_times_of_other_programs_have_no_fractions(tmp_path: Path) -> None:
    """As text `05Z` comes behind `05.9Z`; as a time it does not."""
    late = msgspec.structs.replace(said("no"), time="2026-01-01T00:00:05.9Z")
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes", at=5))
        log.append(late)
    assert read_log(log.path) == [said("yes", at=5), late]


# -- sheets ---------------------------------------------------------------------------------------


def sheet(folder: Path, text: str, name: str = "manual.evaluations.x.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_without_description_belongs_to_the_one_above(tmp_path: Path) -> None:
    path = sheet(tmp_path, HEADER + 'a,p1,t1,y,y\n"",p2,t2,n,\nb,p3,t3,y,"not ""so"""\n')
    rows = list(read_sheet(path))
    assert [(r.description, r.prediction) for r in rows] == [("a", "p1"), ("a", "p2"), ("b", "p3")]
    store = read_store(tmp_path)
    assert store.count("structure") == 3
    assert store.count("command") == 2  # an empty cell is no verdict
    found = store.find("command", "b", "p3")
    assert found is not None
    assert (found.answer, found.reason, found.raw) == ("no", 'not "so"', 'not "so"')
    assert found.source == f"{path}, line 4"


def test_the_last_row_wins_and_the_conflict_is_reported(tmp_path: Path) -> None:
    sheet(tmp_path, HEADER + "a,p,t,y,y\n", "Z.evaluations")
    sheet(tmp_path, HEADER + "a,p,t,n,wrong flags\n", "b.evaluations")
    sheet(tmp_path, HEADER + "a,p,t,y,y\n", "c.evaluations.base")
    sheet(tmp_path, HEADER + "a,p,t,y,y\n", "other.csv")
    store = read_store(tmp_path)
    assert [fact.path.name for fact in store.facts] == ["Z.evaluations", "b.evaluations"]
    found = store.find("command", "a", "p")
    assert found is not None
    assert found.answer == "no"
    assert len(store.conflicts) == 2
    assert "1 x yes (Z.evaluations, " in str(store.conflicts[0])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty; its first line must be description,"),
        (
            "description,prediction,correct template\na,b,y\n",
            "there is no column 'correct command'",
        ),
        (HEADER + 'a,"b\n', "not CSV"),
        (HEADER + 'a,"b"c,d\n', "not CSV"),
        (HEADER + "a,b,c,y,y\nd,sort -t, f,t,y,y\n", "line 3: 6 cells where the header names 5"),
    ],
)
def test_bad_sheets_are_named(tmp_path: Path, text: str, problem: str) -> None:
    sheet(tmp_path, text)
    with pytest.raises(InputError, match=problem):
        read_store(tmp_path)


def test_long_cells_and_empty_ones_at_the_end_are_read(tmp_path: Path) -> None:
    long = "x" * 300_000
    path = sheet(tmp_path, HEADER + f"a,{long},t,y,y,,\n")
    assert [row.prediction for row in read_sheet(path)] == [long]


def test_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.evaluations").write_bytes(HEADER.encode() + "a,ü,t,y,y\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        read_store(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; give the folder"):
        read_store(tmp_path / "no")


def test_structure_is_computed_where_the_sheet_has_none(tmp_path: Path) -> None:
    sheet(tmp_path, "description,prediction,correct template,correct command\nA a,ls x,y,n\n")
    store = read_store(
        tmp_path, key_of=str.lower, structure_of=lambda p, t: t if t is not None else p.split()[0]
    )
    found = store.find("structure", "a a", "ls")
    assert found is not None
    assert found.is_yes


def test_rows_are_written_as_the_old_files_have_them(tmp_path: Path) -> None:
    with SheetWriter(tmp_path, "author") as writer:
        writer.append("count lines", 'echo "a"', "echo Regex", "y", 'not "exact"')
        writer.append("count lines", "wc", "wc", "", "")
        with pytest.raises(UsageError, match="somebody is judging as 'author'"):
            SheetWriter(tmp_path, "author")
    expected = HEADER + '"count lines","echo ""a""","echo Regex","y","not ""exact"""\n'
    expected += '"count lines","wc","wc","n","n"\n'
    path = tmp_path / "manual.evaluations.author"
    assert path.read_text() == expected
    path.write_text(expected[:-1])  # an editor that leaves out the last line's end
    with SheetWriter(tmp_path, "author") as writer:
        writer.append("b", "c", "d", "y", "y")
    assert path.read_text() == expected + '"b","c","d","y","y"\n'
    assert sheet_judge(path) == "author"


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("description,prediction,correct template,correct command", '"d","p","y","n"'),
        (
            "by,prediction,correct command,template,description,correct template",
            '"","p","n","t","d","y"',
        ),
    ],
)
def test_rows_go_under_the_columns_that_a_sheet_has(header: str, row: str, tmp_path: Path) -> None:
    sheet = tmp_path / "manual.evaluations.anna"
    sheet.write_text(f"{header}\n")
    with SheetWriter(tmp_path, "anna") as writer:
        writer.append("d", "p", "t", "y", "")
    assert sheet.read_text() == f"{header}\n{row}\n"
    (found,) = read_sheet(sheet)
    assert (found.description, found.prediction, found.structure, found.command) == (
        "d",
        "p",
        "y",
        "n",
    )


def test_a_sheet_without_a_column_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    sheet = tmp_path / "manual.evaluations.anna"
    sheet.write_text("description,prediction,template,correct template\n")
    with pytest.raises(InputError, match="no column 'correct command'"):
        SheetWriter(tmp_path, "anna")
    assert sheet.read_text() == "description,prediction,template,correct template\n"


def test_a_torn_last_row_costs_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with SheetWriter(tmp_path, "anna") as writer:
        writer.append("a", "p", "t", "y", "y")
        whole = writer.path.stat().st_size
        writer.append("b", "q", "t", "y", 'not "so", though')
    both = writer.path.read_bytes()
    for cut in range(whole + 1, len(both)):
        writer.path.write_bytes(both[:cut])
        rows = list(read_sheet(writer.path))
        assert rows[0].description == "a"
        # Cut between two quotation marks the row looks whole; then it is a no all the same.
        seen = ("", "not ", 'not "so', 'not "so", though')
        assert all(row.command in seen for row in rows[1:]), both[:cut]
        with SheetWriter(tmp_path, "anna") as again:
            again.append("c", "r", "t", "n", "n")
        after = list(read_sheet(writer.path))
        assert (after[0].description, after[-1].description) == ("a", "c")
        assert len(after) == len(rows) + 1


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3))
)
def test_what_is_written_to_a_sheet_is_read_back(rows: list[list[str]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        with SheetWriter(Path(name), "a") as writer:
            for description, prediction, template in rows:
                writer.append(description or "d", prediction, template, "y", "n")
        back = [(r.description, r.prediction, r.template) for r in read_sheet(writer.path)]
        assert back == [(d or "d", p, t) for d, p, t in rows]


# -- stores ---------------------------------------------------------------------------------------

FINAL = [
    # name                               answers, in order of time           final
    ("nobody", [], None),
    ("one judge", [said("yes")], "yes"),
    ("one who is unsure", [said("unsure")], None),
    ("two agree", [said("no"), said("no", "bert")], "no"),
    ("two differ", [said("no"), said("yes", "bert")], None),
    ("the third decides", [said("no"), said("yes", "bert"), said("yes", "carl")], "yes"),
    ("the third is not asked", [said("no"), said("no", "bert"), said("yes", "carl")], "no"),
    ("yes and unsure", [said("yes"), said("unsure", "bert")], None),
    ("unsure does not count", [said("yes"), said("unsure", "bert"), said("yes", "carl")], "yes"),
    (
        "who adjudicates decides",
        [said("no", "carl", purpose="adjudication"), said("yes"), said("yes", "bert")],
        "no",
    ),
]


@pytest.mark.parametrize(("name", "verdicts", "final"), FINAL, ids=[case[0] for case in FINAL])
def test_final_verdict(name: str, verdicts: list[Verdict], final: str | None) -> None:
    found = final_verdict(verdicts)
    assert (found.answer if found else None) == final


def test_a_judges_last_word_counts_and_can_be_taken_back(tmp_path: Path) -> None:
    with VerdictLog(tmp_path, "anna") as log:
        log.append(said("yes"))
        log.append(said("no"))
        assert (found := read_store(tmp_path).find("command", "list file", "ls -a"))
        assert found.answer == "no"
        log.append(said("yes", purpose="repeat"))  # measures steadiness, changes nothing
        assert (found := read_store(tmp_path).find("command", "list file", "ls -a"))
        assert found.answer == "no"
        log.append(said("withdrawn"))
    assert read_store(tmp_path).find("command", "list file", "ls -a") is None


def test_structure_is_found_for_other_predictions_that_share_it() -> None:
    store = Store(logs={"anna": [said("yes", question=STRUCTURE)]})
    assert store.find("structure", "list file", "ls -a") is not None
    assert store.find("structure", "other", "ls -a") is None


def test_judges_overrule_sheets_and_disagreements_are_listed(tmp_path: Path) -> None:
    sheet(tmp_path, HEADER + "list file,ls -a,ls -a,y,y\n")
    with VerdictLog(tmp_path, "anna") as anna, VerdictLog(tmp_path, "bert") as bert:
        anna.append(said("no", at=1))
        store = read_store(tmp_path)
        assert (found := store.find("command", "list file", "ls -a"))
        assert found.answer == "no"
        bert.append(said("yes", "bert", at=2))
        store = read_store(tmp_path)
        assert (found := store.find("command", "list file", "ls -a"))
        assert found.source is not None  # the sheet's: the judges have not settled it
        assert [c.place for c in store.unsettled()] == [("command", "list file", "ls -a")]
        assert len(store.disagreements()) == 1
        anna.append(said("yes", at=3))
    assert not read_store(tmp_path).disagreements()


ANSWERS = [
    ("y", "yes", ""),
    ("Y", "yes", ""),
    (" y", "yes", ""),
    ("n", "no", ""),
    ("yes", "no", "yes"),
]


@pytest.mark.parametrize(("cell", "answer", "reason"), ANSWERS)
def test_cells(cell: str, answer: str, reason: str) -> None:
    assert answer_of(cell) == (answer, reason)


# -- items ----------------------------------------------------------------------------------------


def test_an_example_of_any_task_is_an_item() -> None:
    from dataclasses import dataclass, field
    from typing import Any

    @dataclass
    class Example:
        prediction: Any
        gold: Any
        id: str = "s1"
        slices: dict[str, str] = field(default_factory=dict)
        missing: bool = False

    (item,) = default_items(Example(["a", "b"], ["c", "a", "c"], slices={"question": "why?"}))
    assert (item.prediction, item.references, item.prompt) == ("a", ("c", "a"), "why?")
    assert item.matched == {"correct"}
    (other,) = default_items(Example("a", "d"))
    assert other.key != item.key  # other gold: another question
    assert not other.matched
    assert default_items(Example("", "d", missing=True)) == []
    (data,) = default_items(Example({"title": "T", "year": 1999}, {"title": "T"}))
    assert data.prediction == "title: T\nyear: 1999"


# -- the published judgements ---------------------------------------------------------------------

ORACLES = Path(__file__).resolve().parents[4] / "shared" / "oracles" / "commands"
COUNTED = [
    # case                     structure  command  conflicts
    ("dev549-subtoken-copynet", None, None, 1),
    ("edge-blank-description", 4, 3, 0),
    ("edge-cache-over-match", 3, 3, 0),
    ("edge-file-order", 3, 3, 4),
    ("edge-short-lines", 2, 2, 0),
    ("edge-values", 4, 4, 0),
]


@pytest.mark.parametrize(("case", "structure", "command", "conflicts"), COUNTED)
def test_old_folders_are_read_in_place(
    case: str, structure: int | None, command: int | None, conflicts: int
) -> None:
    folder = ORACLES / case / "judgements"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: the judgements of others are not kept in this project")
    store = read_store(folder)
    if structure is not None:
        assert (store.count("structure"), store.count("command")) == (structure, command)
    assert len(store.sheet_conflicts) == conflicts
