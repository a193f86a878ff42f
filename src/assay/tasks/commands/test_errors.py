# SPDX-License-Identifier: Apache-2.0
"""Error sheets: overlap and categories by hand, and bad files."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import AssayError
from assay.tasks.commands.errors import analysis, errors, read_rows

SHEET = """Model,description,prediction,Error Category,correct template,correct command
x,list,ls,,y,Y
z,,ls -l,flag error,y,too long
x,print,echo,utility error,n,n
z,print,pwd,,y,y
x,stop,halt,flag error,n,
"""


def test_overlap_and_categories(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(SHEET)
    found = analysis(read_rows(tmp_path / "e.csv"))
    assert (found["systems"], found["examples"]) == (["x", "z"], 3)
    assert found["overlap"] == [
        {
            "first": "x",
            "second": "z",
            "template": {"yy": 1, "yn": 0, "ny": 1, "nn": 0},  # of the two that both have
            "command": {"yy": 0, "yn": 1, "ny": 1, "nn": 0},
        }
    ]
    assert found["categories"] == {
        "x": [("utility error", 1), ("flag error", 1)],
        "z": [("flag error", 1)],
    }
    assert "only the second" in errors([str(tmp_path / "e.csv")])


BAD = [
    ("", "there is no column 'description'"),
    ("description,model\n", "line 1: there is no column 'error category'; the columns are: desc"),
    (SHEET + 'x,"a', "not CSV"),
    (SHEET + "x,halt,ls", "line 7: 3 cells where the header names 6; is the file cut off"),
    (SHEET.splitlines()[0], "holds no rows below its header"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_bad_sheets_are_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(text)
    with pytest.raises(AssayError, match=said):
        errors([str(tmp_path / "e.csv")])


def test_one_file_is_wanted() -> None:
    with pytest.raises(AssayError, match="give one error sheet"):
        errors([])
    with pytest.raises(AssayError, match="cannot be read"):
        errors(["nowhere.csv"])
