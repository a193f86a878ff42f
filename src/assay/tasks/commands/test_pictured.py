# SPDX-License-Identifier: Apache-2.0
"""What reports show of commands, against the scores themselves and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tasks.commands.pictured import shell_tokens, top_shares
from assay.tasks.commands.verdicts import Known

TOKENS = [
    # name               command                         tokens
    ("options",          "ls -la --color=auto",          ["ls", "-la", "--color=", "auto"]),
    ("quotes",           "echo \"a b\" 'c d'",           ["echo", '"a b"', "'c d'"]),
    ("operators",        "a|b && c; d>>e 2>&1",          ["a", "|", "b", "&&", "c", ";", "d", ">>", "e", "2>&1"]),
    ("escapes",          r"find . -exec rm {} \;",       ["find", ".", "-exec", "rm", "{", "}", r"\;"]),
    ("not a command",    "echo 'open",                   ["echo", "'", "open"]),
    ("nothing",          "",                             []),
]  # fmt: skip


@pytest.mark.parametrize(("command", "tokens"), [t[1:] for t in TOKENS], ids=[t[0] for t in TOKENS])
def test_tokens(command: str, tokens: list[str]) -> None:
    assert shell_tokens(command) == tokens


@given(st.text(max_size=60))
def test_no_letter_is_lost(command: str) -> None:
    kept = "".join("".join(token.split()) for token in shell_tokens(command))
    assert kept == "".join(command.split())


def test_shares_grow_with_k() -> None:
    right, matched, wrong, open_ = (Known(x, x) for x in ("y", "m", "n", "?"))
    known = [[wrong, right, wrong], [matched], [open_, wrong, open_], []]
    assert top_shares(known, 3) == [0.25, 0.5, 0.5]
    assert top_shares([], 2) == [0.0, 0.0]
