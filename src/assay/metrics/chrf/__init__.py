# SPDX-License-Identifier: Apache-2.0
"""chrF and chrF++: F-score over character n-grams, and over words too."""

from assay.metrics.chrf.metric import Chrf

__all__ = ["Chrf"]
