# SPDX-License-Identifier: Apache-2.0
"""chrF and chrF++: F-score over character n-grams, and over words too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.metrics.chrf.metric import Chrf

__all__ = ["Chrf"]


def __getattr__(name: str) -> object:
    if name == "Chrf":  # not at once: `plain` is for those who have no time to load numpy
        from assay.metrics.chrf.metric import Chrf

        return Chrf
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
