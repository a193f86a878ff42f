# SPDX-License-Identifier: Apache-2.0
"""What goes where: documents to standard output; warnings, notes and progress to standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from assay.cli import one_line


def show(
    document: Any, render: Callable[..., str], *, json: bool, format: str, digits: int | None
) -> None:
    """A document on standard output: as JSON, or as `render` of its kind has it.

    On a terminal tables are coloured and fitted to its width.
    """
    if json:
        from assay.report.json import to_json

        click.echo(to_json(document), nl=False)
        return
    from assay.report.terminal import columns_of, spelled, wants_colour

    width = columns_of(sys.stdout, os.environ)
    colour = wants_colour(sys.stdout, os.environ)
    text = render(document, format, digits, colour=colour, width=width)
    if format == "csv" and sys.stdout.isatty():
        text = spelled(text, keep_lines=True)  # data in a file, but not to steer a terminal with
    click.echo(text, nl=False, color=colour)


def tell(text: str) -> None:
    """Text on standard error. Where it cannot be written (a full disk) the work goes on."""
    with suppress(OSError):
        click.echo(text, err=True, nl=False)


def warn(warnings: Iterable[str], quiet: bool) -> None:
    """One line per warning."""
    if not quiet:
        for warning in warnings:
            tell(f"assay: warning: {one_line(warning)}\n")


def finished(written: Mapping[str, Path], quiet: bool) -> None:
    """One line per file or folder that was written."""
    if not quiet:
        for what, path in written.items():
            tell(f"assay: {one_line(f'{what} written to {path}')}\n")


def note(line: str) -> None:
    """One line at once, while the work goes on."""
    tell(f"assay: {line}\n")


@contextmanager
def bar(wanted: bool) -> Iterator[Callable[[int, int], None]]:
    """How much is done of how much, on standard error if that is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    last = 0.0

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.1:
            last = now
            full = 30 * done // max(1, total)
            tell(f"\r{'█' * full}{'░' * (30 - full)} {done:,}/{total:,}")

    try:
        yield show
    finally:
        tell("\r\x1b[K")


@contextmanager
def progress_line(quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A counter on standard error, if that is a terminal; gone when the work is done."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    last = time.monotonic()

    def show(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.2:
            last = now
            tell(f"\r{done:,} examples measured")

    try:
        yield show
    finally:
        tell("\r\x1b[K")
