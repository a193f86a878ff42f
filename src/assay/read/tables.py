# SPDX-License-Identifier: Apache-2.0
"""Tables: Parquet files, and the tables of pandas, polars and Arrow that are in memory already.

A row is a record and its columns are named as the keys of JSON records are. Parquet needs pyarrow
(`pip install 'assay[frames]'`), tables in memory need nothing but themselves.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from assay.core.batch import BLOCK
from assay.core.document import InputFile, Intake
from assay.core.errors import InputError, UsageError
from assay.core.records import Records
from assay.read.digest import Digest, Unhashed, digest_for
from assay.read.fields import Shaper
from assay.read.source import KEYS, Role, Source
from assay.read.stream import READ, raw_pieces


def parquet(source: Source, role: Role, intake: Intake, *, lone: bool = True) -> Iterator[Records]:
    """The records of a Parquet file, some row groups at a time."""
    digest = digest_for(intake)
    with _opened(source, digest) as table:
        names = table.schema_arrow.names
        key = source.naming.of(KEYS[role])
        if key.partition(".")[0] not in names and key not in names:
            shown = ", ".join(f"'{name}'" for name in names[:6]) or "nothing"
            raise InputError(
                f"the table has no column '{key}'",
                path=source.name,
                hint=f"it has {shown}; rename the column that holds the {role}",
            )
        shaper = Shaper(source.name, role, source.naming)
        first = 0
        for batch in table.iter_batches(batch_size=BLOCK):
            if batch.num_rows:
                yield shaper.records(_rows(batch, source.name, first), first)
                first += batch.num_rows
    if not first:
        if lone:
            raise InputError(
                "the table has no rows", path=source.name, hint="check the step that wrote it"
            )
        intake.warnings.append(f"{source.name}: the table has no rows")
    intake.inputs.append(InputFile(role, source.path, digest.hexdigest()))


def _rows(batch: Any, name: str, first: int) -> list[dict[str, Any]]:
    """The rows by name. Parquet does not check that its text is UTF-8, so it is found out here."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except UnicodeDecodeError:
        for column, values in zip(batch.schema.names, batch.columns, strict=True):
            for index, value in enumerate(values):
                try:
                    value.as_py()
                except UnicodeDecodeError:
                    raise InputError(
                        f"'{column}' holds a byte that is not UTF-8",
                        path=name,
                        line=first + index + 1,
                        hint="write the table again from text in UTF-8",
                    ) from None
        raise
    return rows


def parquet_names(source: Source) -> list[str]:
    """The names of the columns of a Parquet file."""
    with _opened(source, Unhashed()) as table:
        return list(table.schema_arrow.names)


def rows_of(table: Any) -> Any:
    """The rows of a table in memory by name; what is no table of a known kind stays as it is.

    >>> import pandas
    >>> rows_of(pandas.DataFrame({"id": ["1"], "prediction": ["a"]}))
    [{'id': '1', 'prediction': 'a'}]
    """
    if hasattr(table, "iter_rows"):  # polars
        return table.iter_rows(named=True)
    if hasattr(table, "to_pylist"):  # Arrow
        return table.to_pylist()
    if hasattr(table, "itertuples"):  # pandas
        return table.to_dict("records")
    return table


@contextmanager
def _opened(source: Source, digest: Digest) -> Iterator[Any]:
    """The file as pyarrow reads it; its digest is taken first, since columns are read in jumps."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            f"{source.name}: Parquet files need pyarrow; run: pip install 'assay[frames]'"
        ) from None
    held = io.BytesIO() if source.path == "-" else None  # a pipe cannot be read in jumps
    for piece in raw_pieces(source, digest, READ):
        if held is not None:
            held.write(piece)
    with held or source.open() as file:
        try:
            with pyarrow.parquet.ParquetFile(file) as table:
                yield table
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"this is not a whole Parquet file ({reason})",
                path=source.name,
                hint="copy or write it again",
            ) from None
