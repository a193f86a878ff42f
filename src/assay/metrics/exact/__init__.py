# SPDX-License-Identifier: Apache-2.0
"""Exact match: the prediction is one of the references, to the last character."""

from __future__ import annotations

from assay.metrics.exact.match import Exact

__all__ = ["Exact"]
