# SPDX-License-Identifier: Apache-2.0
"""Where the stages are joined: `evaluate`, `compare`, `diff`, `gate`, `verify` and run folders.

Each in a module of its own, imported by those who need it: scoring does not load comparing.
"""
