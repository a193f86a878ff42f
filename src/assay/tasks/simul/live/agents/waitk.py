# SPDX-License-Identifier: Apache-2.0
"""Wait-k: stay k words behind the source. One agent for text and one for speech.

Both translate by a phrase table, which stands where a model would. The speech agent understands
audio in which each word is a pair of tones, as telephones dial: a stand-in for a recogniser that
needs no model and is exact, so that its scores mean something.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from assay.tasks.simul.live.agents.agent import END, GET, SEND, States
from assay.tasks.simul.live.agents.phrases import PhraseTable
from assay.tasks.simul.live.agents.registry import register_agent
from assay.tasks.simul.live.agents.tones import ToneListener
from assay.tasks.simul.live.agents.translation import TranslationAgent


@register_agent("waitk_text", "simul_trans_text")
class WaitkTextAgent(TranslationAgent):
    """Writes one word for each word read, k words later."""

    source_type = "text"

    def __init__(self, args: Namespace) -> None:
        self.waitk: int = args.waitk
        super().__init__(args)

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """`--waitk`, `--phrase-table` and `--max-len`."""
        TranslationAgent.add_args(parser)
        parser.add_argument("--waitk", type=int, default=3, help="words to stay behind the source")
        parser.add_argument(
            "--phrase-table", help="lines of phrase, tab, translation; default: copy the source"
        )

    def load_model(self, args: Namespace) -> None:
        """Read the phrase table."""
        self.table = PhraseTable.read(args.phrase_table)

    def words_read(self, states: States) -> list[str]:
        """The source so far, as words."""
        words: list[str] = states["segments"]["src"]
        return words

    def decision_from_states(self, states: States) -> int:
        """Read until k words are there that have not been answered."""
        behind = len(self.words_read(states)) - len(states["segments"]["tgt"])
        return GET if behind < self.waitk and not states["finish_read"] else SEND

    def predict_from_states(self, states: States) -> str | None:
        """The next word of the phrase under way, or of the next phrase."""
        model = states["model"]
        waiting: list[str] = model.setdefault("waiting", [])
        while not waiting:
            rest = self.words_read(states)[model.get("done", 0) :]
            step = self.table.next(rest, final=states["finish_read"])
            if step is None:
                return END if states["finish_read"] else None
            model["done"] = model.get("done", 0) + step[0]
            waiting.extend(step[1])
        return waiting.pop(0)


@register_agent("waitk_speech", "simul_trans_speech")
class WaitkSpeechAgent(WaitkTextAgent):
    """The same for audio in which words are pairs of tones."""

    source_type = "speech"

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Those of the text agent, and how much audio is read at once."""
        WaitkTextAgent.add_args(parser)
        parser.add_argument("--read-ms", type=int, default=100, help="milliseconds per read")

    def read_value(self, states: States) -> Mapping[str, Any]:
        """So many milliseconds."""
        return {"segment_size": self.args.read_ms}

    def init_states(self) -> States:
        """Nothing heard yet."""
        states = super().init_states()
        states["listener"] = ToneListener(getattr(self.args, "sample_rate", 16_000))
        return states

    def words_read(self, states: States) -> list[str]:
        """What was understood."""
        words: list[str] = states["listener"].words
        return words

    def update_states(self, states: States, new_state: Mapping[str, Any]) -> States:
        """Listen to the new audio."""
        segment = new_state["segment"]
        if isinstance(segment, str):
            states["finish_read"] = True
            states["listener"].finish()
        else:
            states["listener"].hear(segment)
        return states
