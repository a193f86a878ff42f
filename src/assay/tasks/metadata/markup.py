# SPDX-License-Identifier: Apache-2.0
"""XML of strangers, read safely: no entity is declared or expanded, nothing is fetched."""

from __future__ import annotations

from html.entities import html5
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from assay.core.errors import InputError


def parse_xml(data: bytes, path: str | Path) -> Element:
    """The root element; names are without namespace.

    A document type may be named, as JATS files do, but it is not read; a document that declares
    entities of its own is refused. Names of characters (`&nbsp;`) are known from HTML.

    >>> parse_xml(b"<a xmlns='http://x.org/'><b>one</b></a>", "a.xml").findtext("b")
    'one'
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler = lambda name, attributes: builder.start(
        _local(name), {_local(key): value for key, value in attributes.items()}
    )
    parser.EndElementHandler = lambda name: builder.end(_local(name))
    parser.CharacterDataHandler = builder.data

    def declared(name: str, *_: object) -> None:
        raise InputError(
            f"declares the entity '{name}'",
            path=path,
            line=parser.CurrentLineNumber,
            hint="entities are not expanded, for safety; write the text out",
        )

    def skipped(name: str, is_parameter: bool) -> None:
        if not is_parameter:
            builder.data(html5.get(f"{name};", ""))

    parser.EntityDeclHandler = declared
    parser.SkippedEntityHandler = skipped
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InputError(
            f"not well-formed XML ({expat.ErrorString(error.code)})",
            path=path,
            line=error.lineno,
            hint="check the program that wrote it",
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that is not known
        raise InputError(f"cannot be read ({error})", path=path, hint="save it as UTF-8") from None
    return builder.close()


def text_of(element: Element | None) -> str:
    """All text below an element on one line; "" where there is no element.

    >>> text_of(parse_xml(b"<a>one <i>and</i>\\n two</a>", "a.xml"))
    'one and two'
    """
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _local(name: str) -> str:
    return name.rpartition("}")[2]
