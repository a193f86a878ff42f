# SPDX-License-Identifier: Apache-2.0
"""Text to shell syntax: simple commands, and the operators and keywords between them.

A script is a flat sequence of pieces, because that is what its printed forms are: pipelines, lists,
loops and redirections are commands and words with signs between them. Only substitutions nest.
Nothing is ever run or expanded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


class UnparsableError(ValueError):
    """The text is not shell syntax, or not of the kind that was asked for."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """A command inside a word, `$(...)`, `<(...)` or `>(...)`; backticks are `$(`."""

    opening: str
    script: Script


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written, quotes and all.

    `parts` is the same word in pieces where it holds substitutions: text and substitutions in turn.
    """

    text: str
    parts: tuple[str | Substitution, ...] = ()

    @property
    def substitutions(self) -> tuple[Substitution, ...]:
        """The commands inside the word."""
        return tuple(part for part in self.parts if isinstance(part, Substitution))


@dataclass(frozen=True, slots=True)
class Simple:
    """A command by itself: its words, the name first."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that gets a value."""

    name: str
    value: Word


Piece: TypeAlias = "str | Word | Simple | Assignment"
Script: TypeAlias = "tuple[Piece, ...]"

_WORD_KINDS = """
word string raw_string ansi_c_string translated_string concatenation simple_expansion expansion
number command_substitution process_substitution arithmetic_expansion brace_expression
extglob_pattern regex variable_name array
"""
_WORDS = frozenset(_WORD_KINDS.split())
_DECLARING = ("declaration_command", "unset_command")
_REDIRECTIONS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
_QUOTED_OR_TICK = re.compile(r"('[^']*'|\\.|`)")
MOST_SIGNS = 10_000
"""So many blanks and signs of the shell are parsed: where they make no sense, the grammar takes the
square of their number to find that out. A word may be as long as it likes."""
_ESCAPED_BLANKS = re.compile(r"(?:\\[ \t])+")
_SIGN = re.compile(rb"[^\w./,:+%~^\x80-\xff-]", re.ASCII)

_SUBSTITUTIONS = ("command_substitution", "process_substitution")


def parse(text: str) -> Script:
    """The pieces of a script; raises UnparsableError where Bash would.

    >>> parse("ls -a | wc -l;")
    (Simple(words=(Word(text='ls', parts=()), Word(text='-a', parts=()))), '|', \
Simple(words=(Word(text='wc', parts=()), Word(text='-l', parts=()))))
    """
    source = with_brackets(text).encode("utf-8", "surrogatepass")
    if len(source) > MOST_SIGNS and sum(1 for _ in _SIGN.finditer(source)) > MOST_SIGNS:
        raise UnparsableError("more signs than a command has")
    try:
        root = _parser().parse(source).root_node
        if root.has_error:
            raise UnparsableError("not shell syntax")
        return _script(root, _Source(source))
    except RecursionError:
        raise UnparsableError("nested too deeply") from None


def with_brackets(text: str) -> str:
    """Backticks written as `$(` and `)`: the grammar takes two for one sign, and cuts words there.

    >>> with_brackets("echo `date` `hostname`")
    'echo $(date) $(hostname)'
    """
    if "`" not in text or "\\`" in text:
        return text
    pieces = _QUOTED_OR_TICK.split(text)
    ticks = [i for i, piece in enumerate(pieces) if piece == "`"]
    if len(ticks) % 2:
        return text
    for number, at in enumerate(ticks):
        pieces[at] = ")" if number % 2 else "$("
    return "".join(pieces)


class _Source:
    """The bytes that the positions of nodes count in."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def between(self, start: int, stop: int) -> str:
        return self.data[start:stop].decode("utf-8", "surrogatepass")

    def text(self, node: Node) -> str:
        return self.between(node.start_byte, node.end_byte)


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _script(node: Node, source: _Source) -> Script:
    """The pieces of a node's children, without what only ends a statement."""
    pieces: list[Piece] = []
    for child in node.children:
        _add(child, source, pieces)
    while pieces and pieces[-1] in (";", "&", "\n"):
        pieces.pop()
    return tuple(pieces)


def _add(node: Node, source: _Source, pieces: list[Piece]) -> None:
    kind = node.type
    if kind == "comment":
        return
    if kind == "command":
        _add_command(node, source, pieces)
    elif kind in _DECLARING:
        pieces.append(Simple(tuple(_declared(child, source) for child in node.children)))
    elif kind == "variable_assignment":
        pieces.append(_assignment(node, source))
    elif kind in _WORDS:
        pieces.append(_word(node, source))
    elif kind == "redirected_statement":
        _add_redirected(node, source, pieces)
    elif node.child_count:
        for child in node.children:
            _add(child, source, pieces)
    else:
        text = source.text(node)
        pieces.append(";" if text in ("\n", ";") else text)


def _add_command(node: Node, source: _Source, pieces: list[Piece]) -> None:
    words: list[Word] = []
    after: list[Piece] = []
    end = node.start_byte
    for child in node.children:
        if child.type == "variable_assignment":
            pieces.append(_assignment(child, source))
        elif child.type in _REDIRECTIONS:
            words += _add_redirection(child, source, after)
        elif child.type != "comment":
            named = child.type == "command_name" and child.child_count == 1
            word = _word(child.children[0] if named else child, source)
            if words and child.start_byte == end:
                # The grammar cuts some words in two, `[a]{2}x` for one; only a blank ends a word.
                words[-1] = _joined(words[-1], word)
            else:
                # Nor does it see words that are nothing but escaped blanks.
                words += map(Word, _ESCAPED_BLANKS.findall(source.between(end, child.start_byte)))
                words.append(word)
        end = child.end_byte
    if words:
        pieces.append(Simple(tuple(words)))
    pieces.extend(after)


def _add_redirected(node: Node, source: _Source, pieces: list[Piece]) -> None:
    """A statement, then its redirections; words between and behind these belong to the command.

    The grammar takes them for more to redirect to: `ls > out -l` is `ls -l > out`.
    """
    children = [child for child in node.children if child.type != "comment"]
    statements = [child for child in children if child.type not in _REDIRECTIONS]
    for child in statements:
        _add(child, source, pieces)
    at = len(pieces) - 1
    more: list[Word] = []
    for child in children:
        if child.type in _REDIRECTIONS:
            more += _add_redirection(child, source, pieces)
    if any(child.type == "heredoc_redirect" for child in children):
        pieces.append(";")  # the line that ends the document ends the statement, too
    if more:
        command = pieces[at] if at >= 0 else None
        if not isinstance(command, Simple):
            raise UnparsableError("words behind a redirection that belong to no command")
        pieces[at] = Simple((*command.words, *more))


def _add_redirection(node: Node, source: _Source, pieces: list[Piece]) -> list[Word]:
    """The sign with its file descriptor as one piece, and what it points at; gives back the rest.

    That is further words. What follows `<<END` on its line stands inside the redirection, too, and
    comes behind the document.
    """
    sign = ""
    target: Word | None = None
    more: list[Word] = []
    behind: list[Piece] = []
    end = -1
    for child in node.children:
        if child.type in _WORDS:
            word = _word(child, source)
            if child.start_byte == end and more:
                more[-1] = _joined(more[-1], word)
            elif child.start_byte == end and target is not None:
                target = _joined(target, word)
            elif target is None and not sign.endswith("-"):
                target = word
            else:
                more.append(word)
            end = child.end_byte
        elif child.type == "heredoc_start":
            target = _here_document(node, source)
        elif child.type in _REDIRECTIONS:
            more += _add_redirection(child, source, behind)
        elif child.type not in ("comment", "heredoc_body", "heredoc_end"):
            if target is None:
                sign += source.text(child)
            else:
                _add(child, source, behind)
    pieces.append(sign)
    if target is not None:
        pieces.append(target)
    pieces.extend(behind)
    return more


def _here_document(node: Node, source: _Source) -> Word:
    """A document in the script itself, as written, from its mark to its mark."""
    held = {child.type: child for child in node.children}
    first = f"{source.text(held['heredoc_start'])}\n"
    last = source.text(held["heredoc_end"]) if "heredoc_end" in held else ""
    if "heredoc_body" not in held:
        return Word(first + last)
    body = _word(held["heredoc_body"], source)
    parts = (first, *body.parts, last) if body.parts else ()
    return Word(f"{first}{body.text}{last}", parts)


def _assignment(node: Node, source: _Source) -> Assignment:
    value = node.child_by_field_name("value")
    name = source.text(node).partition("=")[0]
    return Assignment(name, _word(value, source) if value is not None else Word(""))


def _declared(node: Node, source: _Source) -> Word:
    return _word(node, source)


def _word(node: Node, source: _Source) -> Word:
    parts: list[str | Substitution] = []
    end = _split(node, source, node.start_byte, parts)
    text = source.text(node)
    if not parts:
        return Word(text)
    parts.append(source.between(end, node.end_byte))
    return Word(text, tuple(part for part in parts if part != ""))


def _joined(first: Word, second: Word) -> Word:
    if not first.parts and not second.parts:
        return Word(first.text + second.text)
    pieces = (*(first.parts or (first.text,)), *(second.parts or (second.text,)))
    return Word(first.text + second.text, pieces)


def _split(node: Node, source: _Source, done: int, parts: list[str | Substitution]) -> int:
    """Cut substitutions out of a word; gives back where the last one ended."""
    if node.type in _SUBSTITUTIONS:
        parts.append(source.between(done, node.start_byte))
        parts.append(_substitution(node, source))
        return node.end_byte
    for child in node.children:
        done = _split(child, source, done, parts)
    return done


def _substitution(node: Node, source: _Source) -> Substitution:
    first = source.text(node.children[0])
    inner: list[Piece] = []
    for child in node.children[1:-1]:
        _add(child, source, inner)
    while inner and inner[-1] in (";", "&"):
        inner.pop()
    return Substitution(first if first in ("<(", ">(") else "$(", tuple(inner))
