# SPDX-License-Identifier: Apache-2.0
"""BLEU: how many word n-grams of a translation are in its references."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.metrics.bleu.metric import Bleu

__all__ = ["Bleu"]


def __getattr__(name: str) -> object:
    if name == "Bleu":  # not at once: `plain` is for those who have no time to load numpy
        from assay.metrics.bleu.metric import Bleu

        return Bleu
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
