# SPDX-License-Identifier: Apache-2.0
"""From rows to scores and how sure they are: totals, slices, intervals, tests, planning.

Sees rows and finalisers, never text or files. Import from the module that names the thing:
`totals`, `resample`, `interval`, `paired`, `correct`, `verdict`, `plan`.
"""
