# SPDX-License-Identifier: Apache-2.0
"""BLEU: how many word n-grams of a translation are in its references."""

from assay.metrics.bleu.metric import Bleu

__all__ = ["Bleu"]
