# SPDX-License-Identifier: Apache-2.0
"""Extracted papers as strangers write them: XML and JSON that is broken, odd or made to hurt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.metadata.conftest import Command, Outcome

TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>'
    "<title>{}</title></titleStmt></fileDesc></teiHeader></TEI>"
)
DEEP = 100_000

READ = [
    # what                     file       content
    ("plain",                  "a.xml",   TEI.format("T")),
    ("no namespace",           "a.xml",   TEI.replace(" xmlns", " old").format("T")),
    ("another namespace",      "a.xml",   TEI.replace("www.tei-c.org", "x.org").format("T")),
    ("a prefix everywhere",    "a.xml",   TEI.replace("</", "</t:").replace("<T", "<t:T").replace("<t", "<t:t").replace("<t:t:", "<t:").replace("<f", "<t:f").replace("xmlns=", "xmlns:t=").format("T")),
    ("nested very deeply",     "a.xml",   TEI.format("<i>" * DEEP + "T" + "</i>" * DEEP)),
    ("a document type",        "a.xml",   '<!DOCTYPE TEI SYSTEM "http://127.0.0.1:9/x">' + TEI.format("&nbsp;T&nope;")),
    ("sections and comments",  "a.xml",   TEI.format("<![CDATA[T]]><?p x?><!-- c -->")),
    ("UTF-16",                 "a.xml",   TEI.format("T").encode("utf-16")),
    ("a byte order mark",      "a.xml",   TEI.format("T").encode("utf-8-sig")),
    ("Latin-1 that says so",   "a.xml",   ('<?xml version="1.0" encoding="latin-1"?>' + TEI.format("T<i/>")).encode()),
    ("JSON with a mark",       "a.json",  '{"title": "T"}'.encode("utf-8-sig")),
    ("JSON with odd authors",  "a.json",  '{"title": "T", "authors": [null, {"name": null}, {}, "Ada"]}'),
    ("JSON with odd entries",  "a.json",  '{"title": "T", "references": [1, null, {"year": 0}]}'),
    ("lines with CR",          "a.jsonl", '{"id": "a", "title": "T"}\r\n\r\n'),
]  # fmt: skip


@pytest.mark.parametrize(("file", "content"), [c[1:] for c in READ], ids=[c[0] for c in READ])
def test_what_can_be_read_is_read(file: str, content: str | bytes, assay: Command) -> None:
    found = scored(file, content, assay)
    assert found.out.startswith("\nMetric\tPrecision\tRecall\ntitle\t1.000\t1.000\n")


REFUSED = [
    # what                   file       content                                            said
    ("nothing",              "a.xml",   "",                                                "a.xml, line 1: not well-formed XML (no element found)"),
    ("half a file",          "a.xml",   TEI[:70],                                          "a.xml, line 1: not well-formed XML"),
    ("a web page",           "a.xml",   "<html><body>Not found<br></body></html>",         "a.xml, line 1: not well-formed XML (mismatched tag)"),
    ("a page without header", "a.xml",  "<html><body>Not found</body></html>",             "a.xml: has no teiHeader"),
    ("a prefix of nothing",  "a.xml",   "<t:TEI/>",                                        "a.xml, line 1: not well-formed XML (unbound prefix)"),
    ("a PDF",                "a.xml",   b"%PDF-1.4 \x80",                                  "a.xml, line 1: not well-formed XML"),
    ("Latin-1",              "a.xml",   TEI.format("é").encode("latin-1"),                 "a.xml, line 1: not well-formed XML"),
    ("an unknown encoding",  "a.xml",   '<?xml version="1.0" encoding="klingon"?>' + TEI,  "unknown encoding: klingon"),
    ("an entity of an entity", "a.xml", '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>' + TEI, "declares the entity 'a'"),
    ("an entity in an attribute", "a.xml", '<!DOCTYPE x [<!ENTITY a "1">]><TEI a="&a;"/>', "declares the entity 'a'"),
    ("a parameter entity",   "a.xml",   '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x"> %a;]>' + TEI, "declares the entity 'a'"),
    ("JSON nested deeply",   "a.json",  "[" * DEEP,                                        "a.json, line 1, column 1: lists or objects nested too deeply"),
    ("a deep value",         "a.json",  '{"x": ' + "[" * DEEP + "]" * DEEP + "}",          "nested too deeply"),
    ("half of JSON",         "a.json",  '{"title": "T"',                                   "a.json, line 1, column 14: not JSON"),
    ("half a character",     "a.json",  '{"title": "\\ud800"}',                            "half of a surrogate pair"),
    ("a byte not UTF-8",     "a.json",  b'{"title": "\xff"}',                              "a.json, line 1: byte 0xff is not UTF-8"),
    ("a list for a title",   "a.json",  '{"title": ["T"]}',                                "a.json: 'title' holds a list; write a string or a number"),
    ("a text for authors",   "a.json",  '{"title": "T", "authors": "Ada"}',                "a.json: 'authors' holds str; write a list"),
    ("a number of entries",  "a.json",  '{"title": "T", "references": 5}',                 "a.json: 'references' holds int; write a list"),
    ("deep JSON lines",      "a.jsonl", '{"id": "a"}\n{"id": ' + "[" * DEEP,               "a.jsonl, line 2, column 1: lists or objects nested too deeply"),
    ("a truth value for an id", "a.jsonl", '{"id": true, "title": "T"}',                   "a.jsonl, line 1: has no id"),
    ("a list in a list",     "a.jsonl", '{"id": "a", "title": [["T"]]}',                   "a.jsonl, line 1: 'title' holds a list"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "content", "said"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_what_cannot_be_read_is_refused_in_one_line(
    file: str, content: str | bytes, said: str, assay: Command
) -> None:
    found = scored(file, content, assay)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert said in found.err
    assert not Path("output").exists()


def scored(file: str, content: str | bytes, assay: Command) -> Outcome:
    Path("p").mkdir()
    data = content.encode() if isinstance(content, str) else content
    (Path("p") / file).write_bytes(data)
    Path("title.tsv").write_text("a\tT\n", encoding="utf-8")
    return assay("score", "--input", "p", "--truth", "title.tsv", "--ci", "0")


CONFIDENCE = [
    # what                    line                                                    said
    ("no value",              '{"id": "a", "value": null, "confidence": 0.5}',        "'value' holds null"),
    ("several values",        '{"id": "a", "value": ["T"], "confidence": 0.5}',       "'value' holds a list"),
    ("an id of two",          '{"id": ["a"], "value": "T", "confidence": 0.5}',       "'id' holds a list"),
    ("a truth value",         '{"id": "a", "value": "T", "confidence": true}',        "confidence True is not a number"),
    ("a word",                '{"id": "a", "value": "T", "confidence": "high"}',      "confidence 'high' is not a number"),
    ("digits of Python",      '{"id": "a", "value": "T", "confidence": "1_0"}',       "confidence '1_0' is not a number"),
    ("a field of two",        '{"id": "a", "value": "T", "confidence": 1, "field": []}', "'field' holds a list"),
    ("too deep",              '{"id": "a", "value": ' + "[" * DEEP,                   "nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"), [c[1:] for c in CONFIDENCE], ids=[c[0] for c in CONFIDENCE]
)
def test_what_is_no_scored_prediction_is_refused(line: str, said: str, assay: Command) -> None:
    Path("title.jsonl").write_text(line, encoding="utf-8")
    Path("title.tsv").write_text("a\tT\n", encoding="utf-8")
    found = assay("score", "--scored", "title.jsonl", "--truth", "title.tsv")
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert "title.jsonl, line 1" in found.err
    assert said in found.err


def test_a_tab_in_a_scored_value_is_a_blank_as_it_is_without_confidence(assay: Command) -> None:
    Path("title.jsonl").write_text('{"id": "a", "value": "T\\tU", "confidence": 1}')
    Path("title.tsv").write_text("a\tT U\n", encoding="utf-8")
    given = ("score", "--scored", "title.jsonl", "--truth", "title.tsv", "--ci", "0")
    assert "\ntitle\t1.000\t1.000\n" in assay(*given).out
    assert Path("output/PR-curve.tsv").read_text().endswith("\n1.0\t1.0\t1.0\n")
