# SPDX-License-Identifier: Apache-2.0
"""An agent in three parts that can be replaced one by one: the model, the decision, the words."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from assay.tasks.simul.live.agents.agent import END, GET, SEND, Action, Agent, States


class TranslationAgent(Agent):
    """Reads and writes as `decision_from_states` says, and writes what `predict_from_states` says.

    Override any of `load_model`, `decision_from_states` and `predict_from_states`. States are a
    dictionary: `segments` has lists `src` and `tgt` of what was read and written, `pieces` the
    pieces of a target word that is not complete yet, `finish_read` says that the source is over,
    `model` is free for the model.

    A model that writes pieces of words overrides `starts_word`: pieces are kept until the next one
    starts a new word, so that only whole words are sent. After `--max-len` pieces the sentence is
    ended.
    """

    def __init__(self, args: Namespace) -> None:
        super().__init__(args)
        self.max_len: int = getattr(args, "max_len", 150)
        self.load_model(args)

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """`--max-len`."""
        parser.add_argument(
            "--max-len", type=int, default=150, help="pieces after which a sentence is ended"
        )

    def load_model(self, args: Namespace) -> None:
        """Make `self.model` or whatever the other two need."""

    def decision_from_states(self, states: States) -> int:
        """GET or SEND. Without a model: read everything first."""
        return SEND if states["finish_read"] else GET

    def predict_from_states(self, states: States) -> str | None:
        """The next word or piece, the end mark, or None to read on. Without a model: the source."""
        written = len(states["segments"]["tgt"])
        source = states["segments"]["src"]
        return source[written] if written < len(source) else END

    def starts_word(self, piece: str) -> bool:
        """Whether a piece is the first of a word; a model of whole words leaves this alone."""
        return True

    def join_pieces(self, pieces: list[str]) -> str:
        """A word from its pieces."""
        return "".join(pieces)

    def read_value(self, states: States) -> Mapping[str, Any] | None:
        """The value of a GET: None, or how much audio is wanted."""
        return None

    def init_states(self) -> States:
        """A sentence of which nothing is known."""
        return {
            "segments": {"src": [], "tgt": []},
            "pieces": [],
            "steps": {"src": 0, "tgt": 0},
            "finish_read": False,
            "model": {},
        }

    def update_states(self, states: States, new_state: Mapping[str, Any]) -> States:
        """Append what was read, or note that the source is over."""
        segment = new_state["segment"]
        if isinstance(segment, str) and segment == END:
            states["finish_read"] = True
        else:
            states["segments"]["src"].append(segment)
            states["steps"]["src"] += 1
        return states

    def policy(self, states: States) -> Action:
        """Ask the decision, then the model, until there is a whole word to send."""
        while True:
            reading = self.decision_from_states(states) in (GET, "GET")
            if reading and not states["finish_read"]:
                return self._read(states)
            piece = self.predict_from_states(states)
            if piece is None and not states["finish_read"]:
                return self._read(states)
            if piece is None or piece == END or states["steps"]["tgt"] >= self.max_len:
                return self._end(states)
            states["steps"]["tgt"] += 1
            complete = states["pieces"] if self.starts_word(piece) else []
            if complete:
                states["pieces"] = [piece]
                return self._write(states, self.join_pieces(complete))
            states["pieces"].append(piece)
            if type(self).starts_word is TranslationAgent.starts_word:  # every piece is a word
                states["pieces"] = []
                return self._write(states, piece)

    def _read(self, states: States) -> Action:
        return {"key": GET, "value": self.read_value(states)}

    def _write(self, states: States, word: str) -> Action:
        states["segments"]["tgt"].append(word)
        return {"key": SEND, "value": word}

    def _end(self, states: States) -> Action:
        if states["pieces"]:
            word = self.join_pieces(states["pieces"])
            states["pieces"] = []
            states["steps"]["tgt"] = self.max_len  # the next question is answered by the end mark
            return self._write(states, word)
        return {"key": SEND, "value": END}
