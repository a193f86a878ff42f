# SPDX-License-Identifier: Apache-2.0
"""Documents to what people and programs read: tables, JSON, HTML, JUnit.

Every function gives back a string; printing and writing files is the caller's. Import from the
module that names the thing: `result` and `comparison` for tables, Markdown, LaTeX and CSV, `json`
for JSON and the schemas, `html` for notebooks, `charts` for SVG, `diff` and `gate` for their
documents, `junit` for build servers.
"""
