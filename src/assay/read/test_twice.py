# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import InputError
from assay.core.text import Texts
from assay.read.twice import check, check_lines

# What could pass for the end of a key, or hide it.
texts = st.text(alphabet='":\\ {},[]a\t\né', max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)
colons = st.sampled_from([":", ": ", " : ", "\t:"])


def written(value: Any, colon: str, *, ascii: bool) -> str:
    return json.dumps(value, separators=(", ", colon), ensure_ascii=ascii)


@given(value=objects, colon=colons, ascii=st.booleans())
def test_objects_without_repeats_pass(value: dict[str, Any], colon: str, ascii: bool) -> None:
    data = written(value, colon, ascii=ascii).encode()
    check(data, msgspec.json.decode(data), "p.jsonl", 1)


@given(value=objects, key=texts, colon=colons, ascii=st.booleans(), deep=st.booleans())
def test_a_key_twice_is_found_wherever_it_is(
    value: dict[str, Any], key: str, colon: str, ascii: bool, deep: bool
) -> None:
    value.pop(key, None)
    members = written(value, colon, ascii=ascii)[1:-1]
    # The second time as Python writes it with all characters escaped: it is the same key.
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in key)
    again = f'"{escaped}"{colon}1, {json.dumps(key)}{colon}2'
    text = f"{{{members}{', ' if members else ''}{again}}}"
    if deep:
        text = f'{{"inside"{colon}[0, {text}]}}'
    plain = b'{"prediction": "a"}'
    rows = [msgspec.json.decode(line) for line in (plain, text.encode())]
    lines = plain + b"\n" + text.encode()
    cut = len(plain)
    with pytest.raises(InputError, match=r"(?s)p\.jsonl, line 12: key .* twice"):
        check_lines(
            Texts(lines, np.array([0, cut + 1]), np.array([cut, len(lines)])), rows, "p.jsonl", 10
        )
