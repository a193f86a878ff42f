# SPDX-License-Identifier: Apache-2.0
"""The form above the examples: by kind, by slice, by text, and in which order.

The script of the page reads it by its classes and data attributes, and knows nothing of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.report.escape import isolated, safe_html, told
from assay.report.numbers import format_count
from assay.report.sections import KINDS, Telling

MOST_COLUMNS = 4
"""Slice columns to filter by, each of at most..."""
MOST_VALUES = 30


def _orders(telling: Telling) -> dict[str, str]:
    """Ways to sort; of a single system an example tells by how far it is from the best."""
    first = {"place": "most telling first"}
    if telling.pair[0] == telling.pair[1]:
        return {**first, "loss": "worst first", "gain": "best first"}
    behind, ahead = telling.names
    return {
        **first,
        "change": "largest difference first",
        "gain": f"{ahead} furthest ahead first",
        "loss": f"{behind} furthest ahead first",
    }


def filter_columns(telling: Telling) -> dict[str, list[str]]:
    """Columns with few enough values to choose from."""
    values: dict[str, dict[str, None]] = {}
    for example in telling.examples:
        for column, value in example.slices.items():
            values.setdefault(column, {})[value] = None
    # A column that has a value of its own for every second example groups nothing.
    most = min(MOST_VALUES, max(2, len(telling.examples) // 2))
    few = {c: sorted(v) for c, v in values.items() if 1 < len(v) <= most}
    return dict(list(few.items())[:MOST_COLUMNS])


def filters_html(
    telling: Telling, columns: Mapping[str, Sequence[str]], name: str, shown: int
) -> str:
    """The form, and a line that says how many are shown; `name` tells sections apart."""
    held = {e.kind for e in telling.examples[:shown]}
    kinds = "".join(
        _radio(name, kind, f"{telling.called(kind)} {format_count(n)}", disabled=kind not in held)
        for kind in KINDS
        if (n := telling.counts.get(kind, 0))
    )
    selects = "".join(
        _field(f"{name}-f{i}", column, _select(f'data-column="{safe_html(column)}"', values))
        for i, (column, values) in enumerate(columns.items())
    )
    orders = "".join(
        f'<option value="{key}">{safe_html(words)}</option>'
        for key, words in _orders(telling).items()
    )
    sort = f'<select id="{{}}" data-order>{orders}</select>'
    search = '<input id="{}" type="search" placeholder="any text" autocomplete="off">'
    of_all = (
        f"all {format_count(telling.n)} examples"
        if shown == telling.n
        else f"{format_count(shown)} telling examples of {format_count(telling.n)}"
    )
    return (
        '<form class="filters" role="search" aria-label="Filter examples">\n'
        f"<fieldset><legend>Show</legend>{_radio(name, '', 'all', checked=True)}{kinds}"
        f"</fieldset>\n<div>{selects}"
        f"{_field(f'{name}-sort', 'sort', sort)}{_field(f'{name}-search', 'search', search)}"
        "</div>\n</form>\n"
        f'<p class="note" role="status" aria-live="polite" data-of="{safe_html(of_all)}">'
        f"{safe_html(of_all)}.</p>\n"
    )


def _field(place: str, name: str, control: str) -> str:
    """A control, whose `{}` gets its id, under its own label alone."""
    opening, _, rest = control.partition("{}")
    return (
        f'<span class="field"><label for="{place}">{isolated(name)}</label>'
        f"{opening}{place}{rest}</span>"
    )


def _select(attribute: str, values: Iterable[str]) -> str:
    options = "".join(
        f'<option value="{safe_html(value)}">{safe_html(value or "(empty)")}</option>'
        for value in values
    )
    return f'<select id="{{}}" {attribute}><option value="">any</option>{options}</select>'


def _radio(
    name: str, value: str, text: str, *, checked: bool = False, disabled: bool = False
) -> str:
    state = " checked" if checked else ""
    state += " disabled" if disabled else ""
    return (
        f'<label class="pill"><input type="radio" name="kind-{name}" value="{value}"{state}>'
        f"<span>{told(text)}</span></label>"
    )
