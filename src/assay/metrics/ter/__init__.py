# SPDX-License-Identifier: Apache-2.0
"""Translation edit rate: word edits and moves of phrases, per gold word."""

from __future__ import annotations

from assay.metrics.ter.metric import Ter

__all__ = ["Ter"]
