# SPDX-License-Identifier: Apache-2.0
"""What the old program could parse: one pipeline of simple commands whose utilities it knew."""

from __future__ import annotations

from assay.tasks.commands.parts import bodies
from assay.tasks.commands.syntax import Assignment, Script, Simple, UnparsableError
from assay.tasks.commands.table import utility
from assay.tasks.commands.tree import Argument, Body, Command


def lone_substitution(script: Script) -> Script:
    """A script as the old program reads one that is nothing but a substitution.

    `name=$(command)` is that command, whatever stands around it; where the name has a digit it is
    `$( command )`, and so is a substitution that stands alone. Other scripts are as they are.
    """
    if len(script) != 1:
        return script
    (piece,) = script
    if isinstance(piece, Simple) and len(piece.words) == 1 and piece.words[0].substitutions:
        return (piece.words[0],)
    if not isinstance(piece, Assignment) or not piece.value.substitutions:
        return script
    if any(letter.isdigit() for letter in piece.name):
        return (piece.value,)
    return piece.value.substitutions[0].script


def check(body: Body, *, inside: bool = False) -> None:
    """Refuse what the old program refused, inside other commands too."""
    if len(body) % 2 == 0:
        raise UnparsableError("nothing there, or a pipeline without an end")
    if len(body) == 1 and isinstance(body[0], Argument):
        if body[0].inner:
            check(body[0].inner[0].body, inside=True)
        return  # else a text that is run elsewhere, and was not looked into
    for position, piece in enumerate(body):
        if position % 2 == 1:
            if piece != "|":
                raise UnparsableError("more than one pipeline")
        elif not isinstance(piece, Command):
            raise UnparsableError("not a simple command")
        elif inside and piece.name.startswith("$"):
            return  # a command in a variable: `ssh host $command`
        elif not utility(piece.name, reference=True).known:
            raise UnparsableError(f"unknown utility {piece.name}")
        else:
            for item in piece.items:
                for inner in bodies(item):
                    check(inner, inside=True)
