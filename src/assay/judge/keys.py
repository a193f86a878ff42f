# SPDX-License-Identifier: Apache-2.0
"""Which key does what, in the terminal and in the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.errors import UsageError
from assay.core.names import unknown

MOST_REASONS = 9

DEFAULT = {
    "yes": "y",
    "no": "n",
    "unsure": "u",
    "skip": "s",
    "back": "b",
    "next": ".",
    "undo": "z",
    "redo": "r",
    "comment": "c",
    "guidelines": "g",
    "quit": "q",
}


def keys_of(text: str | None) -> dict[str, str]:
    """The keys, some of them changed: `yes=j,no=k`.

    >>> keys_of("yes=j,no=k")["yes"]
    'j'
    """
    keys = dict(DEFAULT)
    for part in filter(None, (part.strip() for part in (text or "").split(","))):
        action, equals, key = part.partition("=")
        if action not in DEFAULT:
            raise unknown("action for --keys", action, DEFAULT)
        if not equals or len(key) != 1 or not key.isprintable() or key.isspace() or key.isdigit():
            example = f"{action}={DEFAULT[action]}"
            raise UsageError(f"--keys {part}: give one character that is no digit, like {example}")
        keys[action] = key
    twice = [key for key in keys.values() if list(keys.values()).count(key) > 1]
    if twice:
        both = " and ".join(action for action, key in keys.items() if key == twice[0])
        raise UsageError(f"--keys: '{twice[0]}' is the key of {both}; give each its own")
    return keys


def reasons_of(text: str | None) -> tuple[str, ...]:
    """Ready-made reasons, chosen by the keys 1 to 9: `wrong flag,wrong utility`.

    >>> reasons_of("wrong flag, wrong utility")
    ('wrong flag', 'wrong utility')
    """
    found = tuple(filter(None, (part.strip() for part in (text or "").split(","))))
    if len(found) > MOST_REASONS:
        raise UsageError(f"--reasons has {len(found)} reasons; there are keys for {MOST_REASONS}")
    return found


def reason_of(text: str, reasons: Sequence[str]) -> str:
    """A reason as it was typed, or the ready-made one of this number.

    >>> reason_of("2", ["wrong flag", "wrong utility"]), reason_of("7", ["wrong flag"])
    ('wrong utility', '7')
    """
    bare = text.strip()
    known = bare.isdecimal() and 1 <= int(bare) <= len(reasons)
    return reasons[int(bare) - 1] if known else bare


def key_line(keys: Mapping[str, str], reasons: Sequence[str] = ()) -> str:
    """All keys on one line, each inside its word where it occurs there.

    >>> key_line({"yes": "y", "undo": "z"}, ["wrong flag"])
    '[y]es  [z] undo  [1] wrong flag'
    """
    own = (f"[{number}] {reason}" for number, reason in enumerate(reasons, start=1))
    return "  ".join([*(_shown(action, key) for action, key in keys.items()), *own])


def _shown(action: str, key: str) -> str:
    return f"[{key}]{action[1:]}" if action.startswith(key) else f"[{key}] {action}"
