# SPDX-License-Identifier: Apache-2.0
"""Folders that agents import from."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def make_importable(folder: str | Path) -> None:
    """Let an agent import what lies in a folder.

    Before installed packages: what lies beside an agent is meant by it. Behind the standard
    library: a `copy.py` there is not Python's own, which the processes of `--jobs` look for.
    """
    place = str(Path(folder).absolute())
    if place not in sys.path:
        sys.path.insert(_behind_the_standard_library(), place)


def _behind_the_standard_library() -> int:
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    own |= {str(Path(folder, "lib-dynload")) for folder in own}
    return max((i for i, place in enumerate(sys.path, start=1) if place in own), default=0)
