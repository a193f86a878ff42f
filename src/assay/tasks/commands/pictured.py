# SPDX-License-Identifier: Apache-2.0
"""What reports show of commands: the share right among the first k, tokens to compare by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.tasks.commands.verdicts import RIGHT, Known

_TOKEN = re.compile(
    r"""
    '[^']*' | "(?:[^"\\]|\\.)*" | `[^`]*`            # a quoted text is one token
  | \|\||&&|\|&|;;|>>|<<|2>&1|&>|[|&;<>(){}!]       # operators
  | --?[A-Za-z][\w-]*=?                             # options, without their values
  | (?:\\.|[^\s'"`|&;<>(){}\\])+                    # words
  | \S
    """,
    re.VERBOSE | re.DOTALL,
)


def shell_tokens(command: str) -> list[str]:
    """The tokens of a command as a reader sees them; works for what no shell would take, too.

    >>> shell_tokens("find . -name '*.txt' | xargs wc -l")
    ['find', '.', '-name', "'*.txt'", '|', 'xargs', 'wc', '-l']
    """
    return _TOKEN.findall(command)


def top_shares(known: Iterable[Sequence[Known]], most: int) -> list[float]:
    """The share of examples with a right command among the first 1, 2, ..., `most`.

    >>> top_shares([[Known("y", "n"), Known("y", "y")], [Known("n", "n")]], 2)
    [0.0, 0.5]
    """
    firsts = [
        next((rank for rank, each in enumerate(one) if each.command in RIGHT), most)
        for one in known
    ]
    n = max(1, len(firsts))
    return [sum(first <= rank for first in firsts) / n for rank in range(most)]
