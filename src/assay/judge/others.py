# SPDX-License-Identifier: Apache-2.0
"""What other judges say while one is at work, whichever process they sit in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from assay.judge.log import PREFIX, SUFFIX, log_judge, moment
from assay.judge.verdict import StructureOf, Verdict, reread, written_down

_decoder = msgspec.json.Decoder(Verdict)


class Others:
    """The logs of all other judges of a folder, read on from where one stopped the last time.

    Nobody is kept from answering because somebody else's file cannot be read at the moment; who
    reads the whole folder is told.
    """

    def __init__(
        self, folder: Path, judge: str, *, structure_of: StructureOf = written_down
    ) -> None:
        self._folder = folder
        self._judge = judge
        self._structure_of = structure_of
        self._read: dict[Path, int] = {}

    def news(self) -> list[tuple[str, Verdict]]:
        """Judge and verdict of what has been said since the last look, all the first time."""
        found: list[tuple[str, Verdict]] = []
        for path in sorted(self._folder.glob(f"{PREFIX}*{SUFFIX}")):
            judge = log_judge(path)
            if judge is not None and judge != self._judge:
                said: list[Verdict] = []
                for line in self._new_lines(path):
                    with suppress(msgspec.DecodeError, UnicodeDecodeError):
                        said.append(_decoder.decode(line))
                now = (reread(verdict, self._structure_of) for verdict in sorted(said, key=moment))
                found += [(judge, verdict) for verdict in now]
        return found

    def _new_lines(self, path: Path) -> list[bytes]:
        """Whole lines behind those that were read; all where the file has been written anew."""
        start = self._read.get(path, 0)
        try:
            size = path.stat().st_size
            if size == start:
                return []
            with path.open("rb") as file:
                file.seek(start if start < size else 0)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read[path] = (start if start < size else 0) + len(whole)
        return whole.splitlines()
