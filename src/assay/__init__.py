# SPDX-License-Identifier: Apache-2.0
"""Assay: measure predictions against gold, and know how sure you are."""

__version__ = "0.1.0"
