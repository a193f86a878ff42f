# SPDX-License-Identifier: Apache-2.0
"""The options of `assay simul score`; those of `MEASURES` are options of `assay simul run` too."""

from __future__ import annotations

from assay.core.options import Option

INPUT = (
    Option(
        "predictions",
        ("LOG",),
        "The log of a system: an event log, SimulEval's instances.log, simulstream's or "
        "OmniSTEval's JSONL, or a folder with one of these or with fairseq's text and delay; also "
        "a folder of such folders, one per system.",
        kind="path",
        required=True,
    ),
    Option(
        "gold",
        ("--gold", "-g", "--references", "--tgt-file", "--target"),
        "References, one line per stream (or per segment of --segments), where the log does not "
        "hold them.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "source_type",
        ("--source-type",),
        "What the source is, where the log does not say.",
        kind="choice",
        choices=("text", "speech"),
    ),
    Option(
        "transcripts",
        ("--transcripts",),
        "Spoken output as text, one line per stream, as a speech recogniser gave it: quality is "
        "measured on that.",
        kind="path",
        metavar="FILE",
    ),
)

MEASURES = (
    Option(
        "latency_metrics",
        ("--latency-metrics",),
        "Latency metrics: AL, LAAL, AP, DAL, ATD, YAAL, StartOffset, ...; several words.",
        several=True,
        metavar="NAME...",
    ),
    Option(
        "quality_metrics",
        ("--quality-metrics",),
        "Quality metrics: BLEU, chrF, TER, WER; several words.",
        several=True,
        metavar="NAME...",
    ),
    Option(
        "computation_aware",
        ("--computation-aware",),
        "Also measure latency of times that include computation (_CA).",
        kind="flag",
    ),
    Option(
        "no_use_ref_len",
        ("--no-use-ref-len",),
        "Hold outputs against their own length, not that of the reference.",
        kind="flag",
    ),
    Option(
        "eval_latency_unit",
        ("--eval-latency-unit",),
        "The unit that delays belong to.",
        kind="choice",
        choices=("word", "char", "spm"),
        default="word",
    ),
    Option(
        "eval_latency_spm_model",
        ("--eval-latency-spm-model",),
        "SentencePiece model for the unit spm.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "ca_times",
        ("--ca-times",),
        "What computation-aware times of an event log are: a step begins when its audio is there "
        "and the last step is done (queue), all time on the clock is added (simuleval), or that of "
        "the step alone (chunk).",
        kind="choice",
        choices=("queue", "simuleval", "chunk"),
    ),
)

SCORING = (
    Option(
        "tokenizer",
        ("--sacrebleu-tokenizer", "--tokenizer", "--bleu-tokenizer"),
        "Tokeniser of BLEU.",
        default="13a",
    ),
    Option(
        "agent",
        ("--agent",),
        "A Python file that registers latency metrics as for SimulEval; it is run.",
        kind="path",
        metavar="FILE",
        executes=True,
    ),
    Option(
        "user_dir",
        ("--user-dir",),
        "A folder with an __init__.py that does so.",
        kind="path",
        metavar="DIR",
        executes=True,
    ),
    Option(
        "compat",
        ("--compat",),
        "Give the old program's numbers and files, quirk for quirk.",
        kind="choice",
        choices=("simuleval", "fairseq", "omnisteval"),
    ),
    Option(
        "score_only",
        ("--score-only",),
        "Accepted; scoring is all this does.",
        kind="flag",
        hidden=True,
    ),
)

LONG = (
    Option(
        "segments",
        ("--segments", "--speech-segmentation"),
        "Reference segments of long recordings (YAML or JSON with wav, offset, duration): the "
        "output is divided among them.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "resegment",
        ("--resegment",),
        "How output is divided: SoftSegmenter (built in), or least word error rate by the package "
        "mweralign, for StreamLAAL.",
        kind="choice",
        choices=("softsegmenter", "mweralign"),
        default="softsegmenter",
    ),
    Option(
        "lang",
        ("--lang",),
        "Language of the output; its words are taken apart by the Moses tokeniser for alignment.",
    ),
    Option(
        "char_level",
        ("--char-level",),
        "Divide and measure by characters; the same as --eval-latency-unit char.",
        kind="flag",
    ),
    Option(
        "fix_simuleval_emission_ca",
        ("--fix-simuleval-emission-ca",),
        "Take out the time that SimulEval adds up over a recording from computation-aware times.",
        kind="flag",
    ),
    Option(
        "offset_delays",
        ("--offset-delays",),
        "Delays count from the start of the first segment of a recording.",
        kind="flag",
    ),
    Option(
        "detokenizer",
        ("--detokenizer",),
        "How the tokens of a simulstream log become text.",
        kind="choice",
        choices=("word", "char", "spm"),
        default="spm",
    ),
    Option(
        "eval_config",
        ("--eval-config",),
        "simulstream's YAML with detokenizer_type and latency_unit, in place of --detokenizer.",
        kind="path",
        metavar="FILE",
    ),
)


OUTPUT = (
    Option(
        "regime",
        ("--regime",),
        "Latency regimes in seconds, several words: low=0-2 high=2-4; says which one LongYAAL is "
        "in.",
        several=True,
        metavar="NAME=FROM-TO...",
    ),
    Option(
        "output",
        ("--output", "-o", "--output-folder"),
        "Write the files of the tool that the log comes from: scores.tsv, metrics.tsv, "
        "instances.log and config.yaml; or text, delay and scores; or evaluation_report.txt, "
        "scores.tsv and instances.resegmented.jsonl.",
        kind="path",
        metavar="DIR",
    ),
)
