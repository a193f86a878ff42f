# SPDX-License-Identifier: Apache-2.0
"""The documentation, and the program that keeps it true."""
