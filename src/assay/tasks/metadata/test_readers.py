# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay import evaluate
from assay.core.errors import AssayError, InputError, UsageError
from assay.tasks.metadata.extracted import read_jats, read_science_parse, read_tei
from assay.tasks.metadata.markup import parse_xml

JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS 1.2//EN" "JATS-archivearticle1.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink"><front>
<journal-meta><journal-title-group><journal-title>Imagined Letters</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="doi">10.1/x</article-id>
<title-group><article-title>On <italic>Lists</italic> &amp; Trees&nbsp;Too</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann B.</given-names></name></contrib>
<contrib contrib-type="editor"><name><surname>Nobody</surname></name></contrib></contrib-group>
<pub-date><year>2011</year></pub-date><abstract><p>Short.</p></abstract>
<kwd-group><kwd>lists</kwd><kwd>trees</kwd></kwd-group></article-meta></front>
<back><ref-list><ref><element-citation><name><surname>Wu</surname></name><article-title>Before</article-title><source>Acta</source><year>1999</year></element-citation></ref></ref-list></back></article>"""

BOMB = """<!DOCTYPE TEI [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><TEI><teiHeader/>&b;</TEI>"""
OUTSIDE = """<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/hostname">]><TEI><teiHeader/>&x;</TEI>"""


def test_jats() -> None:
    paper = read_jats(JATS.encode(), Path("p.xml"))
    assert paper.fields() == {
        "title": ["On Lists & Trees Too"],
        "authors": ["Ann B. Lee"],
        "author_surnames": ["Lee"],
        "first_author": ["Lee"],
        "year": ["2011"],
        "venue": ["Imagined Letters"],
        "abstract": ["Short."],
        "doi": ["10.1/x"],
        "keywords": ["lists", "trees"],
        "reference_titles": ["Before"],
    }
    assert paper.references[0].venue == "Acta"


def test_tei_takes_the_venue_of_the_header_only_and_books_as_titles() -> None:
    text = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>On
      Lists</title></titleStmt><sourceDesc><biblStruct><analytic>
      <author><persName><forename type="first">A.</forename><forename type="middle">B</forename><forename type="middle">C</forename><surname>Lee,</surname></persName></author>
      <author><persName><surname>42</surname></persName></author></analytic><monogr/></biblStruct></sourceDesc></fileDesc></teiHeader>
      <text><listBibl><biblStruct><analytic><title type="main">...</title></analytic><monogr><title>The Book.,</title>
      <author><persName><surname>Wu</surname></persName></author><imprint><date type="published" when="1999-01"/></imprint></monogr></biblStruct></listBibl></text></TEI>"""
    paper = read_tei(text.encode(), Path("p.xml"))
    assert paper.title == "On Lists"
    assert [a.full for a in paper.authors] == ["A B C Lee"]
    assert paper.venue == ""
    (book,) = paper.references
    assert (book.title, book.venue, book.year, book.authors[0].last) == (
        "The Book",
        "",
        "1999",
        "Wu",
    )


def test_science_parse_json() -> None:
    data = {
        "metadata": {
            "title": "On Lists",
            "authors": ["Ann Lee", {"name": "Jan van den Berg"}],
            "year": 2011,
            "references": [{"title": "Before"}],
        }
    }
    paper = read_science_parse(json.dumps(data).encode(), Path("p.json"))
    assert paper.fields()["authors"] == ["Ann Lee", "Jan van den Berg"]
    assert paper.fields()["author_surnames"] == ["Lee", "van den Berg"]
    assert paper.fields()["year"] == ["2011"]


@pytest.mark.parametrize("text", [BOMB, OUTSIDE])
def test_entities_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="declares the entity"):
        parse_xml(text.encode(), "p.xml")


def test_deep_and_broken_xml() -> None:
    deep = b"<a>" * 50_000 + b"</a>" * 50_000
    assert parse_xml(deep, "p.xml").tag == "a"
    with pytest.raises(InputError) as caught:
        parse_xml(b"<a>\n<b></a>", "p.xml")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("name", "reader", "data"),
    [
        ("tei", read_tei, b"<x/>"),
        ("jats", read_jats, b"<x/>"),
        ("json", read_science_parse, b"[1]"),
        ("no json", read_science_parse, b"{"),
    ],
)
def test_other_content_is_refused(name: str, reader: object, data: bytes) -> None:
    with pytest.raises(InputError):
        reader(data, Path("p"))  # type: ignore[operator]  # a table of readers


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_all_forms_of_the_same_gold_are_the_same_gold(tmp_path: Path) -> None:
    write(tmp_path, {"p/title.tsv": "p1\tOn Lists\n", "p/authors.tsv": "p1\tAnn Lee\tBo Wu\n"})
    write(tmp_path, {"g/title.tsv": "p1\tOn Lists\n", "g/authors.tsv": "p1\tAnn Lee\tBo Wu\n"})
    record = {"id": "p1", "title": "On Lists", "authors": ["Ann Lee", "Bo Wu"]}
    write(tmp_path, {"g.jsonl": json.dumps(record) + "\n"})
    write(
        tmp_path,
        {
            "z/title.tsv.gz": gzip.compress(b"p1\tOn Lists\n"),
            "z/authors.tsv": "p1\tAnn Lee\tBo Wu\n",
        },
    )
    golds = [tmp_path / "g", tmp_path / "g.jsonl", tmp_path / "z", [record]]
    runs = [evaluate("metadata", tmp_path / "p", gold, ci=0) for gold in golds]
    assert [run.scores["authors.f1"] for run in runs] == [1.0] * 4
    assert len({run.document.gold_sha256 for run in runs}) == 1


def test_a_folder_of_jats_against_json_lines(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "jats/p1.nxml": JATS,
            "gold.jsonl": '{"id": "p1", "title": "On Lists & Trees Too", "year": 2011}',
        },
    )
    found = evaluate("metadata", tmp_path / "jats", tmp_path / "gold.jsonl", ci=0)
    assert found.scores["title.f1"] == found.scores["year.f1"] == 1.0


BAD = [
    # name                     files                                                               options    message
    ("nothing there", {"g/t.tsv": "p\tA"}, {}, "no such file or folder"),
    ("no field in common", {"p/a.tsv": "p\tA", "g/b.tsv": "p\tA"}, {}, "nothing to compare"),
    ("empty files", {"p/a.tsv": "", "g/a.tsv": ""}, {}, "nothing to compare"),
    (
        "two files of one field",
        {"p/a.1.tsv": "p\tA", "p/a.2.tsv": "p\tA", "g/a.1.tsv": "p\tA", "g/a.2.tsv": "p\tA"},
        {},
        "both hold the field 'a'",
    ),
    (
        "bad bytes",
        {"p/a.tsv": b"p1\tA\np2\t\xff\n", "g/a.tsv": "p1\tA"},
        {},
        "a.tsv, line 2: byte 0xff",
    ),
    (
        "repeated ids, refused",
        {"p/a.tsv": "p1\tA\np1\tB\n", "g/a.tsv": "p1\tA"},
        {"duplicate_ids": "error"},
        "a.tsv, line 2",
    ),
    (
        "missing, refused",
        {"p/a.tsv": "p1\tA\n", "g/a.tsv": "p1\tA\np2\tB"},
        {"missing": "error"},
        "has no prediction: 'p2'",
    ),
    (
        "unknown field in a rule",
        {"p/a.tsv": "p\tA", "g/a.tsv": "p\tA"},
        {"match": ["b=soft"]},
        "unknown field",
    ),
    ("unknown field", {"p/a.tsv": "p\tA", "g/a.tsv": "p\tA"}, {"fields": ["b"]}, "unknown field"),
    (
        "a rule without field",
        {"p/a.tsv": "p\tA", "g/a.tsv": "p\tA"},
        {"match": ["soft"]},
        "FIELD=RULE",
    ),
    (
        "JSON without id",
        {"p": '{"a": 1}', "g/a.tsv": "p\tA"},
        {"input_format": "jsonl"},
        "line 1: has no id",
    ),
    (
        "JSON of objects",
        {"p": '{"id": "p", "a": {}}', "g/a.tsv": "p\tA"},
        {"input_format": "jsonl"},
        "'a' holds an object",
    ),
    (
        "no JSON",
        {"p": '{"id": "p"}\nx', "g/a.tsv": "p\tA"},
        {"input_format": "jsonl"},
        "line 2, column 1: not JSON",
    ),
    (
        "unknown counting",
        {"p/a.tsv": "p\tA", "g/a.tsv": "p\tA"},
        {"duplicates": "bag"},
        "--duplicates",
    ),
]


@pytest.mark.parametrize(
    ("files", "options", "message"), [c[1:] for c in BAD], ids=[c[0] for c in BAD]
)
def test_bad_input(
    files: dict[str, str | bytes], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    write(tmp_path, files)
    with pytest.raises(AssayError) as caught:
        evaluate("metadata", tmp_path / "p", tmp_path / "g", **options)  # type: ignore[arg-type]  # a table of options
    assert caught.value.exit_code == 2
    assert message in str(caught.value)


WARNED = [
    ("an id that differs by blanks", "p1 \tA\n", "p1\tA\n", "match only without blanks"),
    ("a repeated prediction", "p1\tA\np1\tB\n", "p1\tA\n", "every line counts as a paper"),
    ("a repeated gold id", "p1\tA\n", "p1\tA\np1\tB\n", "the last line counts"),
    ("a stranger", "p1\tA\np9\tB\n", "p1\tA\n", "not in gold"),
    ("a byte-order mark", "\ufeffp1\tA\n", "p1\tA\n", "byte-order mark"),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "message"), [c[1:] for c in WARNED], ids=[c[0] for c in WARNED]
)
def test_odd_input_is_warned_of(ours: str, theirs: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, {"p/a.tsv": ours, "g/a.tsv": theirs})
    found = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0)
    assert any(message in w for w in found.document.warnings)


def test_files_pair_by_full_name_then_by_stem(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "p/a.txt": "p\tA",
            "p/b.tsv": "p\tB",
            "p/b.bak": "p\tX",
            "p/.c.tsv": "p\tX",
            "p/sub/d.tsv": "p\tD",
        },
    )
    write(
        tmp_path,
        {
            "g/a.tsv": "p\tA",
            "g/b.tsv": "p\tB",
            "g/.c.tsv": "p\tC",
            "g/e.tsv/x": "p\tE",
            "p/e.tsv": "p\tE",
        },
    )
    found = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0)
    assert found.document.metrics[0].text == "metadata(fields=a+b)"
    assert found.scores["macro_f1"] == 1.0
    assert found.document.extra["skipped"] == ["b.bak", "e.tsv"]


def test_gold_fields_without_predictions_count_if_asked(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.tsv": "p\tA", "g/a.tsv": "p\tA", "g/b.tsv": "p\tB"})
    asked = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0, require_all=True)
    assert asked.scores["b.recall"] == 0.0
    plain = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0)
    assert any("'b'" in w and "--require-all" in w for w in plain.document.warnings)


def test_repeated_ids_can_be_merged(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.tsv": "p1\tA\np1\tB\n", "g/a.tsv": "p1\tA\np1\tB\n"})
    found = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0, duplicate_ids="merge")
    assert (found.scores["a.precision"], found.scores["a.recall"]) == (1.0, 1.0)


def test_empty_values_can_be_dropped(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.tsv": "p1\t\tA\n", "g/a.tsv": "p1\tA\n"})
    kept = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0)
    assert kept.scores["a.precision"] == 0.5
    dropped = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0, empty_values="drop")
    assert dropped.scores["a.precision"] == 1.0


def test_papers_without_prediction_can_be_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.tsv": "p2\tB\n", "g/a.tsv": "p1\tA\np2\tB\n"})
    wrong = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0)
    left_out = evaluate("metadata", tmp_path / "p", tmp_path / "g", ci=0, missing="skip")
    assert (wrong.scores["a.recall"], left_out.scores["a.recall"]) == (0.5, 1.0)


def test_no_predictions_or_two_kinds_of_them() -> None:
    with pytest.raises(UsageError, match="--input or --scored"):
        evaluate("metadata", None, [{"id": "p", "a": "A"}])
    with pytest.raises(UsageError, match="give one"):
        evaluate("metadata", [{"id": "p"}], [{"id": "p", "a": "A"}], scored="x.tsv")
