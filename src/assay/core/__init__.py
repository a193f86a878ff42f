# SPDX-License-Identifier: Apache-2.0
"""What every stage agrees on: text columns, batches, metrics and totals, tasks, documents, errors.

Import from the module that names the thing (`assay.core.metric`, `assay.core.batch`, ...). This
package imports the standard library and numpy only, and nothing else of Assay; `errors`, `options`,
`names` and `signature` do without numpy, so that the command line starts quickly.
"""
