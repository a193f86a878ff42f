# SPDX-License-Identifier: Apache-2.0
"""`assay metadata normalise`: label files with every value in a normal form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import UsageError
from assay.core.files import atomic_file
from assay.core.names import unknown
from assay.tasks.metadata.labels import BOM, Labels, parse_labels
from assay.tasks.metadata.normalise import LABEL_FORMS, as_known
from assay.tasks.metadata.sources import read_bytes

SETS: dict[str, tuple[str, ...]] = {
    "titles": ("title",),
    "authors": ("lastname-exact", "lastname"),
}
"""Several forms at once, one output file each, as the old converters do."""

OLD_NAMES = {"NormalizeTitles": "titles", "NormalizeAuthors": "authors"}
"""What the old converters are called."""


def normalise_files(what: Sequence[str]) -> str:
    """Rewrite a label file: `FORM IN [OUT]`, `titles IN OUT`, or `authors IN OUT OUT`.

    Without OUT the lines come back as text. Ids and the order of values stay; empty values at the
    end of a line are lost.
    """
    known = [*SETS, *LABEL_FORMS]
    if not what:
        raise UsageError(f"give FORM IN [OUT]; FORM is one of {', '.join(known)}")
    form, *files = what
    form = as_known(OLD_NAMES.get(form, form), known)
    if form not in known:
        raise unknown("normal form", form, known)
    forms = SETS.get(form, (form,))
    usage = f"{form} IN {' '.join(['OUT'] * len(forms))}"
    if len(files) == 1 and len(forms) == 1:
        return rewritten(_read(files[0]), LABEL_FORMS[forms[0]]).removesuffix("\n")
    if len(files) != 1 + len(forms):
        raise UsageError(f"{len(files)} files were given; write: assay metadata normalise {usage}")
    labels = _read(files[0])
    texts = [rewritten(labels, LABEL_FORMS[name]) for name in forms]
    for text, path in zip(texts, files[1:], strict=True):
        with atomic_file(Path(path)) as aside:
            aside.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    return ""


def rewritten(labels: Labels, form: Callable[[str], str]) -> str:
    """The lines of a label file with every value in another form.

    >>> rewritten(Labels.of([("p1", ["On Lists!", "", "..."])]), LABEL_FORMS["title"])
    'p1\\ton lists\\n'
    """
    return labels.mapped(form).data.decode("utf-8", "surrogatepass")


def _read(path: str) -> Labels:
    data = read_bytes(Path(path), "predictions", Intake())
    # Blank lines stay: the file that is written has the lines of the one that was read.
    return parse_labels(data.removeprefix(BOM), path, quirks=True)
