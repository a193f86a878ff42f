# SPDX-License-Identifier: Apache-2.0
"""One person's verdicts on disk: a JSONL file that is only ever added to.

A verdict that was acknowledged is on disk: each is written with one call and flushed to the device
before `append` returns.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import MAXYEAR, datetime
from pathlib import Path

import msgspec

from assay.core.errors import InputError, UsageError
from assay.judge.appending import Appender
from assay.judge.records import mend_end, read_records
from assay.judge.verdict import StructureOf, Verdict, judge_name, reread, written_down

PREFIX = "verdicts."
SUFFIX = ".jsonl"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Verdict)


def log_path(folder: Path, judge: str) -> Path:
    """Where the verdicts of a judge are kept.

    >>> log_path(Path("judgements"), "anna").as_posix()
    'judgements/verdicts.anna.jsonl'
    """
    return folder / f"{PREFIX}{judge_name(judge)}{SUFFIX}"


def log_judge(path: Path) -> str | None:
    """The judge whose log this file is, or None if it is something else."""
    name = path.name
    if name.startswith(PREFIX) and name.endswith(SUFFIX) and len(name) > len(PREFIX + SUFFIX):
        return name[len(PREFIX) : -len(SUFFIX)]
    return None


def read_log(path: Path) -> list[Verdict]:
    """The verdicts of a log in the order of time, withdrawn ones and all.

    A file that only one process has written is in that order already; one that was merged from two
    machines need not be.
    """
    found = read_records(path, _decoder, "a verdict")
    for number, verdict in enumerate(found, start=1):
        if verdict.time and not _is_time(verdict.time):
            problem = f"verdict {number} has '{verdict.time[:40]}' for its time"
            raise InputError(problem, path=path, hint="write it like 2026-01-31T12:00:00Z")
    return sorted(found, key=moment)


def moment(verdict: Verdict) -> str:
    """What verdicts are put in the order of time by; times with and without fractions of a second
    compare.

    >>> "2026-01-01T00:00:05Z" < "2026-01-01T00:00:05.5Z"
    False
    """
    return verdict.time.removesuffix("Z")


class VerdictLog(Appender):
    """The log of one judge, open for writing and locked against a second writer.

    `structure_of` says how structures are printed now; see `reread`.
    """

    def __init__(
        self, folder: Path, judge: str, *, structure_of: StructureOf = written_down
    ) -> None:
        self.judge = judge_name(judge)
        self._structure_of = structure_of
        _refuse_namesake(folder, self.judge)
        super().__init__(log_path(folder, self.judge), self.judge)

    def append(self, *verdicts: Verdict) -> None:
        """Write what was said at once, all of it or nothing; it is on disk when this returns."""
        assert all(v.judge == self.judge for v in verdicts), "a log is that of one judge"
        self.add(b"".join(_encoder.encode(verdict) + b"\n" for verdict in verdicts))
        self.verdicts += verdicts

    def _mend(self) -> None:
        # Read while nobody else can write, and before anything is changed: who has a damaged file
        # keeps it as it is.
        self.verdicts = [reread(each, self._structure_of) for each in read_log(self.path)]
        mend_end(self._file)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).year < MAXYEAR
    except ValueError:
        return False


def _refuse_namesake(folder: Path, judge: str) -> None:
    """Raise where somebody has judged whose name differs by nothing but capitals.

    It will be the same person, who would agree with themselves.
    """
    with suppress(OSError):  # no such folder yet, or one that the log will stumble over
        for path in folder.iterdir():
            known = log_judge(path)
            if known is not None and known != judge and known.casefold() == judge.casefold():
                raise UsageError(
                    f"somebody has judged as '{known}'; write the name like that, or use one that "
                    f"differs from it by more than capitals"
                )
