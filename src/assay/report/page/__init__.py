# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file: opens from disk, fetches nothing, runs only the script it carries.

The style sheet and the script lie beside this module as they are; a Content-Security-Policy in the
page names their digests, so that nothing else, whatever a prediction says, is applied or run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from assay.report.charts.canvas import COLOURS
from assay.report.escape import safe_html, told
from assay.report.headline import headline
from assay.report.html import RULES
from assay.report.page.section import section_html, slug
from assay.report.sections import ReportDocument

MOST_BYTES = 1_200_000
"""For the examples of all sections together; with charts and tables a page stays below 2 MB."""


def report_page(document: ReportDocument) -> str:
    """The whole page."""
    style, script = _style(), _resource("script.js")
    each = MOST_BYTES // max(1, len(document.sections))
    alone = len(document.sections) == 1
    sections = "".join(
        section_html(section, place, each, alone=alone)
        for place, section in enumerate(document.sections)
    )
    policy = (
        "default-src 'none'; "
        f"style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    title = safe_html(document.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n"
        '<body class="assay">\n<a class="skip" href="#main">Skip to the results</a>\n'
        f"<header><h1>{title}</h1>{_remarks(document)}</header>\n"
        f'{_contents(document)}<main id="main">\n{sections}</main>\n{_footer(document)}'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _remarks(document: ReportDocument) -> str:
    return "".join(f'<p class="note">{told(text)}</p>' for text in document.remarks)


def _contents(document: ReportDocument) -> str:
    """One line per section: what was found, and how sure. A single section speaks for itself."""
    if len(document.sections) < 2:
        return ""
    lines = []
    for place, section in enumerate(document.sections):
        said = headline(section)
        badge = "only just" if said.barely else STANDINGS[said.standing]
        lines.append(
            f'<li><a href="#{slug(section, place)}"><span><span class="badge {said.standing}">'
            f"{badge}</span></span> <b>{safe_html(section.name)}</b> "
            f"<span>{told(said.short)}</span></a></li>\n"
        )
    return f'<nav aria-label="Sections"><ul>\n{"".join(lines)}</ul></nav>\n'


STANDINGS = {
    "decided": "decided",
    "open": "not decided",
    "equivalent": "equivalent",
    "single": "score",
}


def _footer(document: ReportDocument) -> str:
    again = ""
    if document.command:
        shown = f"<pre><code>{safe_html(document.command)}</code></pre>"
        again = f"<p>This page is made again by</p>\n{shown}\n"
    return f"<footer>{again}<p>Assay {safe_html(document.version)}</p></footer>\n"


def _style() -> str:
    """The style sheet, with the colours of the charts put in for light and for dark."""
    grounds = [
        "".join(f"--assay-{name}:{both[ground]};" for name, both in COLOURS.items())
        for ground in range(2)
    ]
    sheet = _resource("style.css")
    return sheet.replace("/*light*/", grounds[0]).replace("/*dark*/", grounds[1]) + RULES


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
