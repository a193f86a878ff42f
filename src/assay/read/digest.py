# SPDX-License-Identifier: Apache-2.0
"""The digest of what is read, where anybody wants it."""

from __future__ import annotations

import hashlib
from typing import Protocol

from assay.core.document import Intake


class Digest(Protocol):
    """What the bytes of a file are given to."""

    def update(self, data: bytes, /) -> None:
        """Take in the next bytes."""

    def hexdigest(self) -> str | None:
        """The digest of all of them; None if none was wanted."""


class Unhashed:
    """Stands for a digest that nobody wants."""

    def update(self, data: bytes, /) -> None:
        """Leave the bytes alone."""

    def hexdigest(self) -> str | None:
        """None, always."""
        return None


def digest_for(intake: Intake) -> Digest:
    """SHA-256, or nothing: hashing a file can take as long as reading what it holds."""
    return hashlib.sha256() if intake.digests else Unhashed()
