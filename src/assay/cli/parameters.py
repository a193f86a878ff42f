# SPDX-License-Identifier: Apache-2.0
"""Declared options as click parameters, and the options that every scoring command has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from assay.cli.output import note
from assay.core.options import Option

FORMATS = ("table", "markdown", "latex", "csv")

OUTPUT = (
    Option("json", ("--json",), "Print one JSON document and nothing else.", kind="flag"),
    Option(
        "format",
        ("--format",),
        "Form of the printed result.",
        kind="choice",
        choices=FORMATS,
        default="table",
    ),
    Option(
        "digits",
        ("--digits",),
        "Digits behind the point in tables.",
        kind="integer",
        low=0,
        high=17,  # what a double has
    ),
    Option("quiet", ("--quiet", "-q"), "No notes, warnings or progress on stderr.", kind="flag"),
)

STATISTICS = (
    Option("ci", ("--ci",), "Level of the intervals.", kind="number", default=0.95),
    Option("resamples", ("--resamples",), "Resamples per interval.", kind="integer", default=1000),
    Option("seed", ("--seed",), "Seed of all resampling.", kind="integer", default=12345),
)

SCORING = (
    Option(
        "metrics",
        ("--metric", "-m"),
        "A metric, with parameters if wanted: 'bleu(tokenize=char)'. Repeatable.",
        multiple=True,
    ),
    Option(
        "slices",
        ("--slice",),
        "Also score by each value of this column. Repeatable.",
        multiple=True,
    ),
    Option("cluster", ("--cluster",), "Resample whole groups of this column (documents, talks)."),
    Option(
        "missing",
        ("--missing",),
        "Examples without a prediction: refuse, count as wrong, or leave out.",
        kind="choice",
        choices=("error", "wrong", "skip"),
    ),
    Option(
        "ci",
        ("--ci",),
        "Level of the intervals; 0 leaves them out.",
        kind="number",
        default=0.95,
    ),
    *STATISTICS,
    Option(
        "interval",
        ("--interval",),
        "How intervals are made: Wilson for plain shares and bootstrap for the rest (auto), "
        "bootstrap for all, or Poisson weights in one pass that keeps no rows.",
        kind="choice",
        choices=("auto", "bootstrap", "poisson"),
        default="auto",
    ),
    Option("jobs", ("--jobs", "-j"), "Worker processes.", kind="integer", default=1),
    Option(
        "engine",
        ("--engine",),
        "Where rows are computed; processes when --jobs is above 1.",
        kind="choice",
        choices=("serial", "processes", "dask"),
    ),
    Option(
        "scheduler",
        ("--scheduler",),
        "Compute on the workers of the Dask cluster at this address (tcp://host:8786).",
        metavar="ADDRESS",
    ),
    Option("system", ("--system",), "Name of the system in tables; default: the file's name."),
    Option("save", ("--save",), "Write the run to this folder.", kind="path", metavar="DIR"),
    Option(
        "per_example",
        ("--per-example",),
        "Write each example's scores to this .jsonl, .tsv or .csv file.",
        kind="path",
        metavar="FILE",
    ),
    *OUTPUT,
)


def click_options(declared: Iterable[Option]) -> list[click.Parameter]:
    """One click option per name; of several declarations of a name the first counts."""
    chosen: dict[str, Option] = {}
    for option in declared:
        chosen.setdefault(option.name, option)
    return [_click_option(option) for option in chosen.values()]


class _SeveralOption(click.Option):
    """An option that `SeveralWords` gathers words for."""


class _IgnoringOption(click.Option):
    """A flag behind which some words mean nothing."""

    ignores: tuple[str, ...] = ()


class SeveralWords(click.Command):
    """A command of which some options take all words up to the next option.

    Words that mean nothing behind a flag are dropped, and this is said.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click, after `--flag A B` has become `--flag A --flag B`."""
        normal = ctx.token_normalize_func or (lambda name: name)
        several: set[str] = set()
        ignored: dict[str, tuple[str, ...]] = {}
        for param in self.params:
            flags = [normal(flag) for flag in param.opts]
            if isinstance(param, _SeveralOption):
                several.update(flags)
            elif isinstance(param, _IgnoringOption):
                ignored.update(dict.fromkeys(flags, param.ignores))
        return super().parse_args(ctx, _repeated(_meant(args, ignored, normal), several, normal))


class WithRest(SeveralWords):
    """A command that hands on what it does not know, and everything after a marker."""

    def __init__(
        self,
        name: str,
        rest: str,
        marker: str,
        callback: Callable[..., None],
        params: list[click.Parameter],
        help: str,
    ) -> None:
        super().__init__(
            name,
            callback=callback,
            params=params,
            help=help,
            context_settings={"ignore_unknown_options": True},
        )
        self.rest = rest
        self.marker = marker

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click, for what stands before the marker."""
        cut = args.index(self.marker) if self.marker in args else len(args)
        left = super().parse_args(ctx, args[:cut])
        ctx.params[self.rest] = (*ctx.params[self.rest], *args[cut + 1 :])
        return left


def _meant(
    args: list[str], ignored: Mapping[str, tuple[str, ...]], normal: Callable[[str], str]
) -> list[str]:
    """The words without those that mean nothing."""
    kept: list[str] = []
    before = ""
    for index, word in enumerate(args):
        if word == "--":
            return [*kept, *args[index:]]
        if word in ignored.get(normal(before), ()):
            note(f"the word {word} behind {before} means nothing and is ignored")
        else:
            kept.append(word)
        before = word
    return kept


def _repeated(args: list[str], flags: set[str], normal: Callable[[str], str]) -> list[str]:
    found: list[str] = []
    flag, first = None, False
    for index, word in enumerate(args):
        if word == "--":
            return [*found, *args[index:]]
        if word.startswith("-") and len(word) > 1:
            name, equals, _ = word.partition("=")
            flag, first = (word if normal(name) in flags and not equals else None), True
            found.append(word)
        elif flag is not None and not first:
            found += [flag, word]
        else:
            found.append(word)
            first = False
    return found


def _click_option(option: Option) -> click.Parameter:
    if option.is_argument:
        return click.Argument(
            [option.name],
            type=click.STRING,
            nargs=-1 if option.multiple else 1,
            required=option.required,
            metavar=option.metavar or option.flags[0],
        )
    names = [option.name, *option.flags]
    if option.kind == "flag":
        flag = (_IgnoringOption if option.ignores else click.Option)(
            names,
            is_flag=True,
            default=bool(option.default),
            help=option.help,
            hidden=option.hidden,
        )
        if isinstance(flag, _IgnoringOption):
            flag.ignores = option.ignores
        return flag
    if option.kind == "switch":
        return click.Option(
            names,
            is_flag=False,
            flag_value=True,
            type=click.BOOL,
            default=bool(option.default),
            help=option.help,
            hidden=option.hidden,
            metavar="[yes|no]",
        )
    bounded = option.low is not None or option.high is not None
    kinds: dict[str, click.ParamType[Any]] = {
        "text": click.STRING,
        "path": click.STRING,
        "integer": click.IntRange(option.low, option.high) if bounded else click.INT,
        "number": click.FLOAT,
        "choice": click.Choice(option.choices),
    }
    # A default that is given counts as a value to click, even None, and nothing would be required.
    default = {} if option.default is None else {"default": option.default}
    made = _SeveralOption if option.several else click.Option
    return made(
        names,
        type=kinds[option.kind],
        **default,
        required=option.required,
        multiple=option.multiple or option.several,
        help=option.help,
        hidden=option.hidden,
        metavar=option.metavar,
        show_default=option.default is not None,
    )
