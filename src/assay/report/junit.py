# SPDX-License-Identifier: Apache-2.0
"""A gate as JUnit XML, which build servers read: one suite, one test case per check."""

from __future__ import annotations

from xml.etree import ElementTree

from assay.core.gates import Check, GateDocument
from assay.report.gate import score_places, sentence
from assay.report.terminal import visible


def gate_junit(document: GateDocument, digits: int | None = None) -> str:
    """The gate as XML. A failed check is a failure, a skipped one skipped.

    Characters that XML cannot hold are spelled out.
    """
    places = score_places(document, digits)
    counts = {
        "tests": str(len(document.checks)),
        "failures": str(len(document.of_status("failed"))),
        "errors": "0",
        "skipped": str(len(document.of_status("skipped"))),
        "time": "0",
    }
    suites = ElementTree.Element("testsuites", {"name": "assay gate", **counts})
    against = f" against {document.baseline}" if document.baseline is not None else ""
    name = _text(f"{document.system}{against}")
    suite = ElementTree.SubElement(suites, "testsuite", {"name": f"assay gate: {name}", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("signature", document.signature), ("mode", document.mode)):
        ElementTree.SubElement(properties, "property", {"name": key, "value": _text(value)})
    for check in document.checks:
        suite.append(_case(document, check, places[check.key]))
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(document: GateDocument, check: Check, digits: int) -> ElementTree.Element:
    of = f" ({'='.join(check.slice)})" if check.slice else ""
    rule = {"max_drop": "drops by at most", "min": "is at least", "max": "is at most"}[check.rule]
    case = ElementTree.Element(
        "testcase",
        {
            "classname": _text(f"assay.gate.{document.task}"),
            "name": _text(f"{check.key}{of} {rule} {check.limit:.6g}"),
            "time": "0",
        },
    )
    said = _text(sentence(document, check, digits))
    if check.status == "failed":
        kind = {"type": check.reason, "message": said.removeprefix("failed: ")}
        ElementTree.SubElement(case, "failure", kind).text = said
    elif check.status == "skipped":
        ElementTree.SubElement(case, "skipped", {"message": said.removeprefix("skipped: ")})
    else:
        ElementTree.SubElement(case, "system-out").text = said
    return case


def _text(text: str) -> str:
    """Text that XML 1.0 can hold: control characters and lone surrogates spelled out."""
    return visible(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
