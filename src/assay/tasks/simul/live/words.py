# SPDX-License-Identifier: Apache-2.0
"""Words of the command line that are no options of ours: an agent's own, or a mistake."""

from __future__ import annotations

import difflib
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from assay.core.errors import UsageError

_SERVICE = "an agent is no service here; run it with --agent, or drive one with --remote-eval"
_PARTS = "start one command per part with --shard, and join them with 'assay simul merge'"
_TRANSCRIPTS = (
    "no speech recogniser comes along; score what one has written down with "
    "'assay simul score --transcripts FILE'"
)

ELSEWHERE = {
    "--score-only": "a run that is there is scored with 'assay simul score DIR'",
    "--visualize": "'assay simul plot' draws runs that 'assay simul score --save' wrote",
    "--demo": _SERVICE,
    "--standalone": _SERVICE,
    "--slurm": _PARTS,
    "--slurm-partition": _PARTS,
    "--slurm-job-name": _PARTS,
    "--slurm-time": _PARTS,
    "--dataloader-class": "what is read is named by --source and --target",
    "--target-speech-lang": _TRANSCRIPTS,
    "--whisper-model-size": _TRANSCRIPTS,
    "--whisper-model-temperature": _TRANSCRIPTS,
    "--transcript-lowercase": _TRANSCRIPTS,
    "--transcript-non-punctuation": _TRANSCRIPTS,
}
"""Options of SimulEval that a run does not have, and what to do instead."""


def agent_arguments(
    found: type, words: Sequence[str], common: Mapping[str, Any], known: Sequence[str]
) -> Namespace:
    """The agent's own options, and values of ours that it asks for under the same names.

    `known` are our options, of which one may have been meant.
    """
    parser = _AgentParser(prog=f"agent {found.__name__}", add_help=False)
    add_args = getattr(found, "add_args", None)
    if add_args is not None:
        add_args(parser)
    for action in parser._actions:
        if common.get(action.dest) is not None:
            action.default, action.required = common[action.dest], False
    given, left = parser.parse_known_args(list(words))
    if left:
        wrong = next((word for word in left if word.startswith("-")), left[0])
        raise unknown_word(wrong, [*parser.own(), *known], parser)
    return Namespace(**{**common, **vars(given)})


def unknown_word(word: str, known: Sequence[str], parser: _AgentParser | None = None) -> UsageError:
    """The error for a word that is no option of anybody, with the nearest one that is."""
    name = word.partition("=")[0]
    if name in ELSEWHERE:
        return UsageError(f"{name} is not an option of a run: {ELSEWHERE[name]}")
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    question = f"; did you mean {near[0]}?" if near else ""
    theirs = f" ({parser.prog} has {parser.listed()})" if parser is not None else ""
    return UsageError(f"unknown option {name}{question}{theirs}; see 'assay simul run --help'")


class _AgentParser(ArgumentParser):
    def own(self) -> list[str]:
        """The options that the agent has declared."""
        return [o for a in self._actions for o in a.option_strings if o.startswith("--")]

    def listed(self) -> str:
        return ", ".join(self.own()) or "no options"

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message} (its own options: {self.listed()})")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise UsageError(f"{self.prog}: {message or 'stopped'}")
