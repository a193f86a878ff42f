# SPDX-License-Identifier: Apache-2.0
"""The options of a run, checked and in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.errors import UsageError
from assay.tasks.simul.agent_scorers import AgentScorer, brought_scorers
from assay.tasks.simul.atd import AverageTokenDelay
from assay.tasks.simul.lagging import AgainstReference
from assay.tasks.simul.offsets import RealTimeFactor
from assay.tasks.simul.quality import QualityBleu

if TYPE_CHECKING:
    from assay.core.metric import Metric
    from assay.tasks.simul.events import CaTimes
    from assay.tasks.simul.log import Log


@dataclass(frozen=True, slots=True)
class Settings:
    """How a log is read and measured."""

    quality_metrics: tuple[str, ...] | None = None
    latency_metrics: tuple[str, ...] | None = None
    computation_aware: bool = False
    use_ref_len: bool = True
    unit: str = "word"
    spm_model: str = ""
    tokenizer: str = "13a"
    compat: str | None = None
    source_type: str | None = None
    ca_times: str | None = None
    segments: str | None = None
    resegment: str = "softsegmenter"
    lang: str | None = None
    fix_emission_ca: bool = False
    offset_delays: bool = False
    detokenizer: str = "spm"
    eval_config: str | None = None
    agents: tuple[str, ...] = ()
    """Files and folders that may bring latency metrics of their own."""
    with_sources: bool = False
    """Whether sources are wanted too: files are written, or metrics of others may look at them."""
    transcripts: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        """From the options of the command line."""
        given = options.get
        unit = given("eval_latency_unit") or "word"
        agents = tuple(filter(None, (given("user_dir"), given("agent"))))
        if given("char_level"):
            unit = "char"
        return cls(
            quality_metrics=_names(given("quality_metrics")),
            latency_metrics=_names(given("latency_metrics")),
            computation_aware=bool(given("computation_aware")),
            use_ref_len=not given("no_use_ref_len"),
            unit=unit,
            spm_model=given("eval_latency_spm_model") or "",
            tokenizer=given("tokenizer") or "13a",
            compat=given("compat"),
            source_type=given("source_type"),
            ca_times=given("ca_times"),
            segments=given("segments"),
            resegment=given("resegment") or "softsegmenter",
            lang=given("lang"),
            fix_emission_ca=bool(given("fix_simuleval_emission_ca")),
            offset_delays=bool(given("offset_delays")),
            detokenizer=given("detokenizer") or "spm",
            eval_config=given("eval_config"),
            agents=agents,
            with_sources=bool(agents or given("output")),
            transcripts=given("transcripts"),
        )

    def ca_name(self, log: Log) -> str:
        """What computation-aware times are, in a word."""
        usual = {"events": "queue", "simulstream": "chunk"}.get(log.kind, "simuleval")
        return f"{self.ca_times or usual}{'-fixed' if self.fix_emission_ca else ''}"

    @property
    def event_times(self) -> CaTimes:
        """What computation-aware times of an event log are."""
        given = self.ca_times or "queue"
        if given not in ("queue", "simuleval", "chunk"):
            raise UsageError(f"--ca-times {given} does not fit an event log; use queue")
        return given  # type: ignore[return-value]

    def unit_of(self, log: Log) -> str:
        """The unit that delays belong to; a log may know that it is characters."""
        return "char" if self.unit == "word" and log.unit == "char" else self.unit

    def parameters(self, metric: Metric, log: Log) -> dict[str, object]:
        """The parameters of a metric that options set, where they differ from its own."""
        found: dict[str, object] = {}
        if isinstance(metric, (AgainstReference, AgentScorer)):
            if self.unit_of(log) != "word":
                found["unit"] = self.unit_of(log)
            if self.unit == "spm":
                if not self.spm_model:
                    raise UsageError("--eval-latency-unit spm needs --eval-latency-spm-model FILE")
                found["model"] = self.spm_model
            if not self.use_ref_len:
                found["length"] = "prediction"
        # StreamLAAL counts references by white space in its own program too.
        counts = isinstance(metric, AgainstReference) and "StreamLAAL" not in metric.name
        if counts and self.compat in ("simuleval", "omnisteval"):
            found["counting"] = "simuleval"
        if isinstance(metric, AgentScorer):
            found["file"] = brought_scorers(self.agents)[metric.registered][0]
        if isinstance(metric, (AverageTokenDelay, RealTimeFactor)) and self.compat == "simuleval":
            found["types"] = "log"
        if isinstance(metric, QualityBleu) and self.tokenizer != "13a":
            found["tokenize"] = self.tokenizer
        return found


def _names(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names as given: several words, or separated by commas."""
    if not given:
        return None
    words = [given] if isinstance(given, str) else given
    return tuple(name for word in words for name in _split(word) if name)


def _split(word: str) -> list[str]:
    return [word] if "(" in word else word.split(",")
