# SPDX-License-Identifier: Apache-2.0
"""Overlap of words: token precision, recall and F1, whatever the order."""

from __future__ import annotations

from assay.metrics.overlap.token_f1 import TokenF1

__all__ = ["TokenF1"]
