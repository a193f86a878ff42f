# SPDX-License-Identifier: Apache-2.0
"""What an agent of SimulEval 1.1 remembers of a sentence."""

from __future__ import annotations

from typing import Any

from assay.tasks.simul.live.shims.segments import EmptySegment, Segment


class AgentStates:
    """Source and target so far: lists of words, or flat lists of samples."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """A new sentence."""
        self.source: list[Any] = []
        self.target: list[Any] = []
        self.source_finished = False
        self.target_finished = False
        self.source_sample_rate = 0
        self.target_sample_rate = 0
        self.tgt_lang: str | None = None
        self.upstream_states: list[AgentStates] = []
        self.config: dict[str, Any] = {}

    def update_config(self, config: dict[str, Any]) -> None:
        """Settings that came with a segment."""
        self.config.update(config)

    def update_source(self, segment: Segment) -> None:
        """Source came in."""
        self.source_finished = segment.finished
        if segment.is_empty or isinstance(segment, EmptySegment):
            return
        if segment.tgt_lang is not None:
            self.tgt_lang = segment.tgt_lang
        self.update_config(segment.config)
        if segment.data_type == "text":
            self.source.append(segment.content)
        else:
            self.source += list(segment.content)
            self.source_sample_rate = getattr(segment, "sample_rate", 0)

    def update_target(self, segment: Segment) -> None:
        """Target went out; what ends the sentence is not kept."""
        self.target_finished = segment.finished
        if segment.is_empty or segment.finished:
            return
        if segment.data_type == "text":
            self.target.append(segment.content)
        else:
            self.target += list(segment.content)
            self.target_sample_rate = getattr(segment, "sample_rate", 0)
