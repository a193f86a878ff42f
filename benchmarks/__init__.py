# SPDX-License-Identifier: Apache-2.0
"""Assay and its peers side by side: `make bench`, or `python -m benchmarks NAME...`."""
