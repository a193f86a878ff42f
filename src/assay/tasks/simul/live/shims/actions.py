# SPDX-License-Identifier: Apache-2.0
"""What an agent of SimulEval 1.1 decides: read on, or write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Action:
    """Either of the two."""

    def is_read(self) -> bool:
        """Whether more source is wanted."""
        raise NotImplementedError


class ReadAction(Action):
    """Wait for more source."""

    def is_read(self) -> bool:
        """Yes."""
        return True


@dataclass
class WriteAction(Action):
    """Write `content`: text, samples, or a segment. `finished` ends the sentence."""

    content: Any
    finished: bool

    def is_read(self) -> bool:
        """No."""
        return False
