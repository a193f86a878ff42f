# SPDX-License-Identifier: Apache-2.0
"""Nothing half-written: what is there before, during and after a failure."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assay.core.errors import InputError, OutputError
from assay.core.files import RUN_FILES, atomic_file, atomic_folder, sparing, write_texts

Place = Callable[[Path], AbstractContextManager[Path]]


def test_a_folder_appears_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "new" / "run"
    for text in ("first", "second"):
        with atomic_folder(target) as aside:
            (aside / "a").write_text(text)
            if text == "first":
                assert not target.exists()
            else:
                assert (target / "a").read_text() == "first"
    assert (target / "a").read_text() == "second"
    assert [p.name for p in target.parent.iterdir()] == ["run"]


def test_what_else_lay_in_a_folder_stays(tmp_path: Path) -> None:
    target = tmp_path / "run"
    (target / "notes").mkdir(parents=True)
    for name in ("a", "report.html", "notes/1"):
        (target / name).write_text("old")
    with atomic_folder(target) as aside:
        (aside / "a").write_text("new")
        (target / "made meanwhile").write_text("old")
    held = {str(p.relative_to(target)): p.read_text() for p in target.rglob("*") if p.is_file()}
    others = ("report.html", "notes/1", "made meanwhile")
    assert held == {"a": "new", **dict.fromkeys(others, "old")}
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    for place, name in ((atomic_file, "file"), (atomic_folder, "folder")):
        (tmp_path / "far").mkdir(exist_ok=True)
        link = tmp_path / name
        link.symlink_to(tmp_path / "far" / name)  # dangling at first
        for text in ("first", "second"):
            with place(link) as aside:
                (aside / "a" if aside.is_dir() else aside).write_text(text)
            assert link.is_symlink()
            assert (link / "a" if link.is_dir() else link).read_text() == text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["far", "file", "folder"]
    assert sorted(p.name for p in (tmp_path / "far").iterdir()) == ["file", "folder"]


def test_nobody_is_left_in_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="is the folder you are in"), atomic_folder(Path()):
        pass
    assert (tmp_path / "a").read_text() == "old"


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    with atomic_file(tmp_path / ("ü" * 127)) as aside:
        aside.write_text("x")
    assert (tmp_path / ("ü" * 127)).read_text() == "x"


@pytest.mark.parametrize("place", [atomic_file, atomic_folder])
@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (InputError("bad line"), InputError),
        (OSError(errno.ENOSPC, "No space left on device"), OutputError),
        (OSError("8 requested and 0 written"), OutputError),
        (BrokenPipeError(), BrokenPipeError),
    ],
    ids=["ctrl-c", "bad input", "full disk", "full disk while numpy writes", "closed pipe"],
)
def test_a_failure_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, place: Place, raised: BaseException, seen: type[BaseException]
) -> None:
    target = tmp_path / "out"
    keep = target / "a" if place is atomic_folder else target
    keep.parent.mkdir(exist_ok=True)
    keep.write_text("old")

    def fail_half_way() -> None:
        with place(target) as aside:
            (aside / "a" if aside.is_dir() else aside).write_text("new")
            raise raised

    with pytest.raises(seen):
        fail_half_way()
    assert keep.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("place", "words"),
    [(atomic_file, "is a folder"), (atomic_folder, "is a file")],
)
def test_the_wrong_kind_of_target_is_refused(tmp_path: Path, place: Place, words: str) -> None:
    target = tmp_path / "out"
    if place is atomic_file:
        target.mkdir()
    else:
        target.write_text("precious")
    with pytest.raises(OutputError, match=words), place(target):
        pass
    assert target.exists()


def test_a_parent_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    inside = atomic_folder(tmp_path / "file" / "run")
    with pytest.raises(OutputError, match="cannot be written"), inside:
        pass


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with atomic_file(pipe) as aside:
        assert aside == pipe
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_what_was_read_is_not_written_over(tmp_path: Path) -> None:
    read, link, other = tmp_path / "in.txt", tmp_path / "link.txt", tmp_path / "a.txt"
    read.write_text("precious")
    link.symlink_to(read)
    for target in (read, link):
        with sparing([str(read)]), pytest.raises(OutputError, match="is an input of this run"):
            write_texts({other: "new", target: "new"})
        assert read.read_text() == "precious"
        assert not other.exists()
    write_texts({other: "new", read: "new"})
    assert read.read_text() == other.read_text() == "new"


@pytest.mark.parametrize("name", RUN_FILES)
def test_no_single_file_of_a_run_is_replaced(tmp_path: Path, name: str) -> None:
    for file in RUN_FILES[1:]:
        (tmp_path / file).write_text("kept")
    write_texts({tmp_path / "run.json": "{}"})  # not a run yet
    with pytest.raises(OutputError, match="belongs to a saved run"):
        write_texts({tmp_path / name: "new"})
    with pytest.raises(OutputError, match="belongs to a saved run"), atomic_file(tmp_path / name):
        raise AssertionError("nothing to write to")
