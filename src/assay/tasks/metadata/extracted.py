# SPDX-License-Identifier: Apache-2.0
"""What extraction programs write, one file per paper: GROBID TEI, JATS, science-parse JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from assay.core.errors import InputError
from assay.tasks.metadata.markup import parse_xml, text_of
from assay.tasks.metadata.objects import KINDS, as_text, decoded

_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Author:
    """An author as a program took the name apart."""

    first: str
    middle: tuple[str, ...]
    last: str

    @property
    def full(self) -> str:
        """All parts that there are."""
        return " ".join(part for part in (self.first, *self.middle, self.last) if part)

    def __bool__(self) -> bool:
        return bool(self.full)


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the bibliography; empty is absent."""

    title: str
    authors: tuple[Author, ...] = ()
    venue: str = ""
    year: str = ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted from one paper; empty is absent."""

    title: str = ""
    authors: tuple[Author, ...] = ()
    year: str = ""
    venue: str = ""
    abstract: str = ""
    doi: str = ""
    keywords: tuple[str, ...] = ()
    references: tuple[Reference, ...] = field(default=())

    def fields(self) -> Mapping[str, Sequence[str]]:
        """The paper as fields with values."""
        surnames = [author.last for author in self.authors if author.last]
        return {
            "title": _some(self.title),
            "authors": [author.full for author in self.authors],
            "author_surnames": surnames,
            "first_author": surnames[:1],
            "year": _some(self.year),
            "venue": _some(self.venue),
            "abstract": _some(self.abstract),
            "doi": _some(self.doi),
            "keywords": list(self.keywords),
            "reference_titles": [r.title for r in self.references if r.title],
        }


def read_tei(data: bytes, path: Path) -> Extracted:
    """A paper as GROBID writes it.

    The venue is that of the header alone; all middle names are kept.
    """
    root = parse_xml(data, path)
    header = _first(root, "teiHeader")
    if header is None:
        raise InputError("has no teiHeader", path=path, hint="is this TEI? try --input-format jats")
    source = header.find("fileDesc/sourceDesc/biblStruct")
    return Extracted(
        title=text_of(header.find("fileDesc/titleStmt/title")),
        authors=_tei_authors(source, "analytic/author"),
        year=_tei_year(source),
        venue=text_of(source.find("monogr/title") if source is not None else None),
        abstract=text_of(header.find("profileDesc/abstract")),
        doi=_tei_doi(source),
        keywords=_tei_keywords(header),
        references=tuple(
            _tei_reference(entry)
            for place in root.iter("listBibl")
            for entry in place
            if entry.tag == "biblStruct"
        ),
    )


def read_jats(data: bytes, path: Path) -> Extracted:
    """A paper in JATS or its elder, NLM: publishers' gold, and what CERMINE writes."""
    root = parse_xml(data, path)
    front = _first(root, "front")
    meta = front.find("article-meta") if front is not None else None
    if front is None or meta is None:
        raise InputError("has no article-meta", path=path, hint="is this JATS? try another format")
    authors = [c for c in meta.iter("contrib") if c.get("contrib-type", "author") == "author"]
    doi = next((i for i in meta.iter("article-id") if i.get("pub-id-type") == "doi"), None)
    return Extracted(
        title=text_of(meta.find("title-group/article-title")),
        authors=tuple(filter(None, (_jats_author(a) for a in authors))),
        year=_year(text_of(meta.find("pub-date/year"))),
        venue=text_of(front.find("journal-meta//journal-title")),
        abstract=text_of(meta.find("abstract")),
        doi=text_of(doi),
        keywords=tuple(filter(None, (text_of(k) for k in meta.findall("kwd-group/kwd")))),
        references=tuple(_jats_reference(r) for r in root.iter("ref")),
    )


def read_science_parse(data: bytes, path: Path) -> Extracted:
    """A paper as science-parse writes it."""
    found = decoded(data, path, "one object per file")
    held = found.get("metadata", found) if isinstance(found, dict) else None
    if not isinstance(held, dict):
        raise InputError("not an object", path=path, hint="one object per file")
    paper = _Json(held, path)
    return Extracted(
        title=paper.text("title"),
        authors=paper.authors("authors"),
        year=_year(paper.text("year")),
        venue=paper.text("venue"),
        abstract=paper.text("abstractText") or paper.text("abstract"),
        doi=paper.text("doi"),
        references=tuple(
            Reference(
                entry.text("title"),
                entry.authors("authors") or entry.authors("author"),
                entry.text("venue"),
                _year(entry.text("year")),
            )
            for entry in (_Json(r, path) for r in paper.items("references") if isinstance(r, dict))
        ),
    )


@dataclass(frozen=True, slots=True)
class _Json:
    """An object of science-parse; what is not there or null is empty."""

    held: Mapping[str, Any]
    path: Path

    def text(self, key: str) -> str:
        """A text on one line."""
        value = self.held.get(key)
        return "" if value is None else " ".join(as_text(value, key, self.path).split())

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self.held.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            kind = KINDS.get(type(value), type(value).__name__)
            raise InputError(f"'{key}' holds {kind}", path=self.path, hint="write a list")
        return value

    def authors(self, key: str) -> tuple[Author, ...]:
        """Authors, each a name or an object that has one."""
        found = []
        for item in self.items(key):
            held = item if isinstance(item, dict) else {"name": item}
            found.append(_named(_Json(held, self.path).text("name")))
        return tuple(filter(None, found))


READERS: dict[str, Callable[[bytes, Path], Extracted]] = {
    "tei": read_tei,
    "jats": read_jats,
    "science-parse": read_science_parse,
}
"""Readers of one file per paper, by the name of their format."""


def name_part(text: str) -> str:
    """A part of a name without what is no letter at either end.

    >>> name_part(" C."), name_part("Callison-Burch,"), name_part("42")
    ('C', 'Callison-Burch', '')
    """
    letters = [i for i, c in enumerate(text) if c.isalpha()]
    return text[letters[0] : letters[-1] + 1] if letters else ""


def _tei_authors(place: Element | None, where: str) -> tuple[Author, ...]:
    found = place.findall(where) if place is not None else []
    return tuple(filter(None, (_tei_author(author) for author in found)))


def _tei_author(author: Element) -> Author:
    forenames = author.findall("persName/forename")
    first = next((f for f in forenames if f.get("type") == "first"), None)
    middle = (name_part(text_of(f)) for f in forenames if f.get("type") == "middle")
    return Author(
        name_part(text_of(first)),
        tuple(filter(None, middle)),
        name_part(text_of(author.find("persName/surname"))),
    )


def _tei_year(entry: Element | None) -> str:
    dates = entry.findall("monogr/imprint/date") if entry is not None else []
    return _year(next((d.get("when", "") for d in dates if d.get("type") == "published"), ""))


def _tei_doi(source: Element | None) -> str:
    if source is None:
        return ""
    found = (e for e in source.iter("idno") if (e.get("type") or "").upper() == "DOI")
    return text_of(next(found, None))


def _tei_keywords(header: Element) -> tuple[str, ...]:
    place = header.find("profileDesc/textClass/keywords")
    if place is None:
        return ()
    terms = [text_of(term) for term in place.iter("term")] or [text_of(place)]
    return tuple(filter(None, terms))


def _tei_reference(entry: Element) -> Reference:
    titles = entry.findall("analytic/title")
    main = next((t for t in titles if t.get("type") == "main"), None)
    title, venue = _bare(text_of(main)), _bare(text_of(entry.find("monogr/title")))
    if title:
        return Reference(title, _tei_authors(entry, "analytic/author"), venue, _tei_year(entry))
    # A book, a thesis, a report: what would be the venue is the title.
    return Reference(venue, _tei_authors(entry, "monogr/author"), "", _tei_year(entry))


def _bare(text: str) -> str:
    """A title without trailing commas and dots; nothing if it has no letter."""
    return text.rstrip(",. ") if any(map(str.isalpha, text)) else ""


def _jats_author(contrib: Element) -> Author:
    name = _first(contrib, "name")  # it may stand among alternatives
    if name is None:
        return _named(text_of(contrib.find("string-name")))
    return _jats_name(name)


def _jats_reference(entry: Element) -> Reference:
    people = [_jats_name(name) for name in entry.iter("name")]
    title = text_of(_first(entry, "article-title"))
    venue = text_of(_first(entry, "source"))
    year = _year(text_of(_first(entry, "year")))
    return Reference(title or venue, tuple(filter(None, people)), venue if title else "", year)


def _jats_name(name: Element) -> Author:
    first, *middle = text_of(name.find("given-names")).split() or [""]
    return Author(first, tuple(middle), text_of(name.find("surname")))


def _named(text: str) -> Author:
    from assay.tasks.metadata.normalise import parse_name

    if not text:
        return Author("", (), "")
    name = parse_name(text, careful=True)
    return Author(name.first, name.middle, name.last)


def _year(text: str) -> str:
    found = _YEAR.search(text)
    return found[0] if found and found[0] != "0000" else ""


def _first(root: Element, tag: str) -> Element | None:
    return next(root.iter(tag), None)


def _some(text: str) -> list[str]:
    return [text] if text else []
