# SPDX-License-Identifier: Apache-2.0
"""A place in a list of tokens, and the moves a parser makes from there."""

from __future__ import annotations

from typing import NoReturn

from assay.tasks.sparql.tokens import Token


class UnparsableError(Exception):
    """The text is no query that the parser understands."""


class Cursor:
    """Where a parser is: `at` is the position of the next of `tokens`."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0

    def fail(self) -> NoReturn:
        """Give up at the token that is next."""
        shown = self.tokens[self.at].text if self.at < len(self.tokens) else "the end"
        raise UnparsableError(f"unexpected {shown}")

    def peek(self) -> Token:
        """The next token; it stays."""
        if self.at >= len(self.tokens):
            self.fail()
        return self.tokens[self.at]

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs is next. (No other kind of token has the text of a sign.)"""
        return self.at < len(self.tokens) and self.tokens[self.at].text in signs

    def sees_word(self, *words: str) -> bool:
        """Whether one of these keywords is next."""
        return self.at < len(self.tokens) and self.tokens[self.at].is_word(*words)

    def next(self) -> Token:
        """The next token, taken."""
        token = self.peek()
        self.at += 1
        return token

    def take(self, sign: str) -> Token:
        """The next token, which must be this sign."""
        return self.next() if self.sees(sign) else self.fail()

    def take_word(self, *words: str) -> bool:
        """Take the next token if it is one of these keywords."""
        if self.sees_word(*words):
            self.at += 1
            return True
        return False

    def at_end(self) -> None:
        """Make sure that nothing is left."""
        if self.at < len(self.tokens):
            self.fail()
