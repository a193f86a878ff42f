# SPDX-License-Identifier: Apache-2.0
"""Which of two parallel files holds descriptions and which commands, by their names."""

from __future__ import annotations

import os
import re


def in_order(first: str, second: str) -> tuple[str, str]:
    """Descriptions, then commands, where the names say which is which.

    >>> in_order("dev.cm.filtered", "dev.nl.filtered")
    ('dev.nl.filtered', 'dev.cm.filtered')
    """
    swapped = _names_part(first, "cm") and _names_part(second, "nl")
    return (second, first) if swapped else (first, second)


def both(path: str) -> tuple[str, str] | None:
    """Descriptions and commands where one of the two is named; None where the name is neither.

    >>> both("data/dev.cm.filtered"), both("data/dev.txt")
    (('data/dev.nl.filtered', 'data/dev.cm.filtered'), None)
    """
    folder, name = os.path.split(path)
    for own, other in (("nl", "cm"), ("cm", "nl")):
        partner = re.sub(rf"(?<![a-z]){own}(?![a-z])", other, name, count=1)
        if partner != name:
            named = {own: path, other: os.path.join(folder, partner)}
            return named["nl"], named["cm"]
    return None


def _names_part(path: str, part: str) -> bool:
    return re.search(rf"(?<![a-z]){part}(?![a-z])", os.path.basename(path)) is not None
