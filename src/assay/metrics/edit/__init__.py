# SPDX-License-Identifier: Apache-2.0
"""Error rates by edit distance: words (`wer`) and characters (`cer`)."""

from __future__ import annotations

from assay.metrics.edit.rates import Cer, Wer

__all__ = ["Cer", "Wer"]
