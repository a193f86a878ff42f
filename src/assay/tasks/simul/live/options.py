# SPDX-License-Identifier: Apache-2.0
"""The options of `assay simul serve`, `run` and `merge`."""

from __future__ import annotations

from assay.core.options import Option

DATA = (
    Option(
        "src_file",
        ("--src-file", "--source"),
        "Source: one sentence per line; for speech a list of WAV files.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "tgt_file",
        ("--tgt-file", "--target"),
        "References, one per line; for speech also a JSON manifest that names the audio.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "tgt_file_type",
        ("--tgt-file-type",),
        "What --tgt-file is where the source is speech; default: as it looks.",
        kind="choice",
        choices=("text", "json"),
    ),
    Option(
        "tokenizer",
        ("--tokenizer", "--sacrebleu-tokenizer"),
        "Tokenizer of BLEU: 13a, none, or another of sacrebleu's.",
        default="13a",
    ),
    Option(
        "sample_rate",
        ("--sample-rate",),
        "Samples per second of the audio.",
        kind="integer",
        default=16_000,
    ),
    Option(
        "segment_size",
        ("--segment-size",),
        "Milliseconds of the smallest slice of audio.",
        kind="integer",
        default=10,
    ),
    Option(
        "wav_data_type",
        ("--wav-data-type",),
        "Samples are served as whole numbers of 16 bits.",
        kind="choice",
        choices=("int16",),
        default="int16",
        hidden=True,
    ),
)

SOURCE = ("--scorer-type", "--source-type")
KINDS = ("text", "speech")

SERVE = (
    *DATA,
    Option(
        "scorer_type", SOURCE, "What the source is.", kind="choice", choices=KINDS, default="text"
    ),
    Option("output", ("--output",), "Write log, text, delay and scores here.", metavar="DIR"),
    Option("port", ("--port",), "Port; 0 for any free one.", kind="integer", default=12321),
    Option(
        "hostname",
        ("--hostname",),
        "Address to listen on; others than this machine need a token.",
        default="localhost",
    ),
    Option("token", ("--token",), "What clients must show; made up where one is needed."),
    Option("resume", ("--resume",), "Take up what the log in --output holds.", kind="flag"),
    Option(
        "compat",
        ("--compat",),
        "The rules of the old server: no end mark closes a sentence, audio is not looked at.",
        kind="choice",
        choices=("fairseq",),
    ),
    Option(
        "ready_file",
        ("--ready-file",),
        "Write the address to this file once requests are answered.",
        kind="path",
        metavar="FILE",
    ),
    Option("debug", ("--debug",), "Accepted for old command lines.", kind="flag", hidden=True),
)

RUN = (
    Option("agent_type", ("--agent-type",), "An agent by name; see 'assay simul agents'."),
    Option("agent", ("--agent",), "A Python file with an agent.", kind="path", metavar="FILE"),
    Option("agent_class", ("--agent-class",), "Which class of the file, or a.b.Class."),
    Option(
        "system_dir",
        ("--system-dir",),
        "A folder of SimulEval with an agent and its options.",
        kind="path",
        metavar="DIR",
    ),
    Option(
        "system_config",
        ("--system-config",),
        "The file in it that names the agent's class and the options.",
        default="main.yaml",
    ),
    *DATA,
    Option(
        "scorer_type",
        SOURCE,
        "What the source is; default: what the agent reads, or text.",
        kind="choice",
        choices=KINDS,
    ),
    Option(
        "target_type",
        ("--target-type",),
        "What the agent writes; default: as it says, or text.",
        kind="choice",
        choices=KINDS,
    ),
    Option(
        "output",
        ("--output",),
        "Write the log and the files of the old programs here; spoken output as WAV files.",
        metavar="DIR",
    ),
    Option("local", ("--local",), "Run in process; the default without --port.", kind="flag"),
    Option("port", ("--port",), "Port of a server.", kind="integer"),
    Option("hostname", ("--hostname",), "Address of the server."),
    Option("token", ("--token",), "Token of the server."),
    Option("session", ("--session",), "A state of one's own on the server."),
    Option("reset_server", ("--reset-server",), "Have the server forget first.", kind="flag"),
    Option("scores", ("--scores",), "Ask the server for the scores at the end.", kind="flag"),
    Option(
        "no_scoring",
        ("--no-scoring",),
        "Write the log only; score it later with 'assay simul score'.",
        kind="flag",
    ),
    Option("start_idx", ("--start-idx",), "First sentence.", kind="integer", default=0),
    Option("end_idx", ("--end-idx",), "Last sentence; it counts.", kind="integer"),
    Option(
        "start_index",
        ("--start-index",),
        "First sentence, as SimulEval counts.",
        kind="integer",
        hidden=True,
    ),
    Option(
        "end_index",
        ("--end-index",),
        "The sentence after the last, as SimulEval counts; -1 for all.",
        kind="integer",
        hidden=True,
    ),
    Option(
        "num_threads",
        ("--num-threads",),
        "Threads, each with an agent of its own.",
        kind="integer",
        default=1,
    ),
    Option("jobs", ("--jobs", "-j"), "Processes.", kind="integer", default=1),
    Option("shard", ("--shard",), "This part only: 1/4 is the first of four.", metavar="I/N"),
    Option(
        "resume",
        ("--resume", "--continue-unfinished"),
        "Leave out sentences that are finished.",
        kind="flag",
    ),
    Option(
        "step_seconds",
        ("--step-seconds",),
        "Seconds an agent may take for one step; 0 for any.",
        kind="number",
        default=300.0,
    ),
    Option(
        "max_steps",
        ("--max-steps",),
        "Steps an agent may make in one sentence.",
        kind="integer",
        default=100_000,
    ),
    Option(
        "retry_seconds",
        ("--retry-seconds",),
        "How long to wait for a server that is away.",
        kind="number",
        default=30.0,
    ),
    Option(
        "source_segment_size",
        ("--source-segment-size",),
        "Milliseconds per segment for SimulEval's agents; default: 1, from a server 10.",
        kind="integer",
    ),
    Option(
        "remote_eval",
        ("--remote-eval",),
        "Drive an agent that runs as a service of SimulEval.",
        kind="flag",
    ),
    Option("remote_address", ("--remote-address",), "Where it is.", default="localhost"),
    Option("remote_port", ("--remote-port",), "Its port.", kind="integer", default=12321),
    Option(
        "tgt_lang",
        ("--tgt-lang",),
        "The target language of each sentence, one per line, for SimulEval's agents.",
        kind="path",
        metavar="FILE",
    ),
    Option("device", ("--device",), "Where SimulEval's agents put their model.", default="cpu"),
    Option(
        "dtype",
        ("--dtype",),
        "Precision of their model.",
        kind="choice",
        choices=("fp16", "fp32"),
        hidden=True,
    ),
    Option("fp16", ("--fp16",), "The same as --dtype fp16.", kind="flag", hidden=True),
    Option(
        "user_dir",
        ("--user-dir",),
        "A folder that agents import from; its __init__.py may register latency metrics.",
        kind="path",
        metavar="DIR",
    ),
    Option(
        "dataloader",
        ("--dataloader",),
        "What is read and written, in one word, for old command lines.",
        kind="choice",
        choices=tuple(f"{source}_to_{target}" for source in KINDS for target in KINDS),
        hidden=True,
    ),
    Option("no_progress_bar", ("--no-progress-bar",), "Accepted.", kind="flag", hidden=True),
    Option("log_level", ("--log-level",), "Accepted.", hidden=True),
)
"""What `assay simul run` takes besides the options that name metrics."""

NAMED = (
    "latency_metrics",
    "quality_metrics",
    "computation_aware",
    "no_use_ref_len",
    "eval_latency_unit",
    "eval_latency_spm_model",
    "ca_times",
)
"""The options of scoring that a run takes too."""

FLAGS = (
    *(flag for option in RUN for flag in option.flags),
    "--model-args",
    *(f"--{name.replace('_', '-')}" for name in NAMED),
)
"""All options of `assay simul run` as they are written."""

MERGE = (
    Option("output", ("--output",), "Folder of the whole.", required=True, metavar="DIR"),
    Option("tokenizer", ("--tokenizer",), "Tokenizer of BLEU.", default="13a"),
)
