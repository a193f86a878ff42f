# SPDX-License-Identifier: Apache-2.0
"""Every case that the old tools were run on, through the command: numbers to 1e-9, files by byte.

Cases made for this project are kept in the task's `golden/`; those with data of other projects are
read from beside the repository and skipped where they are not there.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assay.cli.root import root

ROOT = Path(__file__).parents[1]
OWN = ROOT / "src" / "assay" / "tasks" / "simul" / "golden"
SHARED = ROOT.parent / "shared" / "oracles" / "simul"

# The signature names the variant; the tool's own name is in extra.names.
ALL_LATENCY = ["LAAL", "AL", "AP", "DAL", "ATD", "NumChunks", "StartOffset", "EndOffset", "RTF"]


def case(name: str) -> Path:
    for place in (OWN / name, SHARED / name):
        if place.is_dir():
            return place
    pytest.skip(f"{name} holds data of other projects and is not at {SHARED}")


def expected(name: str) -> Any:
    return json.loads((case(name) / "expected.json").read_text(encoding="utf-8"))["expected"]


def score(*args: object) -> dict[str, Any]:
    given = ["simul", "score", *map(str, args), "--json", "--ci", "0", "--quiet"]
    result = CliRunner().invoke(root, given, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def close(found: float | None, wanted: float | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)


def differing(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return {k: (found.get(k), v) for k, v in wanted.items() if not close(found.get(k), v)}


def each_stream(path: Path) -> dict[str, dict[str, float | None]]:
    """Scores by tool's name, by id."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {one["id"]: {k.partition("@")[0]: v for k, v in one["scores"].items()} for one in found}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("simuleval-s2t-word", ["--quality-metrics", "BLEU", "WER", "--computation-aware"]),
        ("simuleval-s2t-300", ["--computation-aware"]),
        ("simuleval-s2s", []),
        ("simuleval-t2t-waitk", ["--quality-metrics", "BLEU", "WER"]),
        (
            "simuleval-s2t-char-zh",
            ["--computation-aware", "--eval-latency-unit", "char", "--sacrebleu-tokenizer", "zh"],
        ),
    ],
)
def test_simuleval_log(name: str, options: list[str], tmp_path: Path) -> None:
    wanted = expected(name)
    table = tmp_path / "each.jsonl"
    document = score(
        case(name), "--compat", "simuleval", *options, "--latency-metrics", *ALL_LATENCY,
        "--per-example", table,
    )  # fmt: skip
    scores = wanted.get("scores") or wanted["scores_from_log"]
    assert differing(document["extra"]["names"], scores) == {}
    found = each_stream(table)
    for metric, values in wanted.get("per_instance", {}).items():
        own, aware = metric.removesuffix("_CA"), metric.endswith("_CA")
        key = f"{own}_CA" if aware else own
        assert differing({i: found[i][key] for i in values}, values) == {}, metric


def test_spoken_output_with_its_durations(tmp_path: Path) -> None:
    # From its log SimulEval has lost them: ATD 1051.8 and RTF 1.0.
    wanted, table, folder = expected("simuleval-s2s"), tmp_path / "each.jsonl", tmp_path / "out"
    found = score(
        case("simuleval-s2s"), "--latency-metrics", *wanted["live"], "--per-example", table,
        "--output", folder,
    )["scores"]  # fmt: skip
    assert differing(found, wanted["live"]) == {}
    each = each_stream(table)
    for name, values in wanted["live_per_instance"].items():
        assert differing({i: each[i][name] for i in values}, values) == {}, name
    again = score(folder, "--latency-metrics", *wanted["live"])["scores"]
    assert differing(again, wanted["live"]) == {}
    # The log that was written is the log that was read, but for the folder that the audio is in.
    ours, theirs = (
        (place / "instances.log").read_text() for place in (folder, case("simuleval-s2s"))
    )
    assert ours.replace(str(case("simuleval-s2s")), "/data/spoken") == theirs


def test_types_of_the_config_are_used_unless_told_otherwise() -> None:
    # SimulEval prints ATD 3.4 live and 0.0 from its own log, which it takes for speech.
    live = score(case("simuleval-t2t-waitk"))["scores"]
    assert [round(live[k], 3) for k in ("BLEU", "LAAL", "AL@simuleval", "AP", "DAL", "ATD")] == [
        10.152, 3.488, 3.488, 0.916, 3.4, 3.4,
    ]  # fmt: skip
    remote = score(case("simuleval-remote-text"))["scores"]
    assert [round(remote[k], 3) for k in ("BLEU", "LAAL", "AP", "ATD")] == [100.0, 2.0, 0.906, 2.0]


def test_units_are_counted_alike_on_both_sides_unless_told_otherwise() -> None:
    # A reference with double blanks has fewer words than SimulEval counts.
    assert score(case("simuleval-s2t-word"))["scores"]["LAAL"] < 3708.49


OMNI_SHORT = {"al": "AL@simuleval", "bleu": "BLEU", "chrf": "chrF"}


def test_omnisteval_short_form(tmp_path: Path) -> None:
    name = "omni-shortform-degenerate"
    wanted = expected(name)
    table = tmp_path / "each.jsonl"
    document = score(
        case(name), "-g", case(name) / "references.txt", "--compat", "omnisteval",
        "--computation-aware", "--per-example", table,
    )  # fmt: skip
    by_name = {
        **{k.lower(): v for k, v in document["extra"]["names"].items()},
        **{f"ca_{k[:-3].lower()}": v for k, v in document["extra"]["names"].items() if k.endswith("_CA")},
    }  # fmt: skip
    scores = dict(wanted["scores"])
    assert document["extra"]["degenerate_policy"] == bool(scores.pop("degenerate_policy"))
    assert differing(by_name, scores) == {}
    found = each_stream(table)
    for i, values in enumerate(wanted["per_instance"]):
        mine = {k.lower(): v for k, v in found[str(i)].items()}
        assert differing(mine, values) == {}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("omni-longform-real", []),
        ("omni-longform-real-moses-fixca", ["--lang", "de", "--fix_simuleval_emission_ca"]),
    ],
)
def test_omnisteval_long_form(name: str, options: list[str], tmp_path: Path) -> None:
    if options:
        pytest.importorskip("sacremoses")
    wanted = expected(name)
    folder, table = tmp_path / "out", tmp_path / "each.jsonl"
    document = score(
        case(name) / "instances.log", "--segments", case(name) / "segments.yaml",
        "-g", case(name) / "references.txt", "--computation-aware", "--compat", "omnisteval",
        "--output", folder, "--per-example", table, *options,
    )  # fmt: skip
    mine = {}
    for key, value in document["scores"].items():
        plain, aware = key.removesuffix("_CA"), key.endswith("_CA")
        own = plain.lower().replace("long", "long_").replace("@", "_")
        mine[f"ca_{own}" if aware else own] = value
    assert differing(mine, wanted["scores"]) == {}
    found = each_stream(table)
    for i, values in enumerate(wanted["per_instance"]):
        mine = {k.removeprefix("Long").lower(): v for k, v in found[str(i)].items()}
        assert differing(mine, values) == {}
    written = (folder / "instances.resegmented.jsonl").read_bytes()
    assert written == (case(name) / "instances.resegmented.jsonl").read_bytes()
    tsv = (folder / "scores.tsv").read_text().splitlines()
    assert tsv[0] == "metric\tvalue"
    assert f"LongYAAL (CU)\t{wanted['scores']['long_yaal']:.4f}" in tsv
    assert f"LongYAAL (CA)\t{wanted['scores']['ca_long_yaal']:.4f}" in tsv
    # The file that was written is a log itself, and gives the same numbers.
    again = score(
        folder / "instances.resegmented.jsonl", "--computation-aware", "--compat", "omnisteval"
    )
    assert differing(again["scores"], document["scores"]) == {}


def test_stream_laal(tmp_path: Path) -> None:
    pytest.importorskip("mweralign")
    name = "streamlaal-real"
    wanted = expected(name)
    table = tmp_path / "each.jsonl"
    found = score(
        case(name) / "instances.log", "--segments", case(name) / "segments.yaml",
        "-g", case(name) / "references.txt", "--computation-aware", "--resegment", "mweralign",
        "--per-example", table,
    )  # fmt: skip
    assert close(found["scores"]["StreamLAAL"], wanted["StreamLAAL_seconds"])
    assert close(found["scores"]["StreamLAAL_CA"], wanted["StreamLAAL_CA_seconds"])
    texts = [json.loads(line)["prediction"]["text"] for line in table.read_text().splitlines()]
    assert texts == [text.strip() for text in wanted["resegmented"][0]]


def test_simulstream_log(tmp_path: Path) -> None:
    name = "simulstream-log-retranslation"
    wanted = expected(name)
    table = tmp_path / "each.jsonl"
    found = score(
        case(name) / "metrics.jsonl", "--eval-config", case(name) / "eval.yaml",
        "--latency-metrics", "NormalizedErasure", "RTF@simulstream", "--per-example", table,
    )  # fmt: skip
    assert close(found["scores"]["NormalisedErasure"], wanted["normalized_erasure"])
    assert close(found["scores"]["RTF@simulstream"], wanted["real_time_factor"])
    streams = [json.loads(line) for line in table.read_text().splitlines()]
    assert sum(s["prediction"]["deleted"] for s in streams) == wanted["num_deleted"]
    for one in streams:
        held, right = one["prediction"], wanted["outputs"][one["id"]]
        assert held["text"] == right["final_text"]
        assert [d / 1000 for d in held["delays"]] == pytest.approx(right["ideal_delays"])
        assert [d / 1000 for d in held["elapsed"]] == pytest.approx(
            right["computational_aware_delays"]
        )


SERVED = [
    "speech-edge", "speech-json-small", "speech-wavlist", "text-multi-token-put",
    "text-never-reads", "text-no-eos-sent", "text-out-of-order", "text-overgenerate",
    "text-resend-after-eos", "text-reset-mid-run", "text-ted500-wait3", "text-unknown-id-put",
    "text-wait-until-end", "text-wait1", "text-wait3", "text-wait3-tok-none",
]  # fmt: skip


@pytest.mark.parametrize("name", SERVED)
def test_fairseq_folder(name: str, tmp_path: Path) -> None:
    wanted, folder = expected(name), case(name) / "expected_output"
    target = case(name) / "target.txt"
    references = target
    if not target.exists():
        references = tmp_path / "references.txt"
        utts = json.loads((case(name) / "dev.json").read_text(encoding="utf-8"))["utts"]
        texts = [u["output"]["text"].strip() for u in utts.values()]
        references.write_text("".join(f"{t}\n" for t in texts), encoding="utf-8")
    tokenizer = "none" if name.endswith("tok-none") else "13a"
    table = tmp_path / "each.jsonl"
    kind = "speech" if name.startswith("speech") else "text"
    document = score(
        folder, "-g", references, "--tokenizer", tokenizer, "--source-type", kind,
        "--missing", "skip", "--per-example", table, "--output", tmp_path / "out",
    )  # fmt: skip
    found = document["extra"]["names"]
    for key in ("AL", "DAL", "AP"):  # the server computed in 32 bits
        if wanted["result"][key] != "NaN":
            assert found[key] == pytest.approx(wanted["result"][key], rel=1e-5, abs=1e-5)
    assert differing(found, wanted.get("latency_float64", {})) == {}
    if len(references.read_text().splitlines()) == document["counts"]["matched"]:
        assert round(found["BLEU"], 3) == wanted["result"]["BLEU"]
    each = each_stream(table)
    for i, values in enumerate(wanted.get("latency_float64_per_sentence", [])):
        assert differing(each[str(i)], values) == {}
    for file in ("text", "delay"):
        assert (tmp_path / "out" / file).read_bytes() == (folder / file).read_bytes()


@pytest.mark.parametrize("kind", ["one_based", "zero_based"])
def test_latency_file(kind: str) -> None:
    wanted = expected("latency-file")[kind]
    file = case("latency-file") / "delays.jsonl"
    zero = ["--start-from-zero"] if kind == "zero_based" else []
    result = CliRunner().invoke(root, ["simul", "latency", "--input", str(file), *zero])
    found = dict(line.split(": ") for line in result.stdout.splitlines())
    assert list(found) == list(wanted)
    for name, value in wanted.items():  # 32-bit floats
        assert float(found[name]) == pytest.approx(value, rel=1e-6)
    if not zero:
        names = score(file)["extra"]["names"]
        assert [names[k] for k in ("DAL", "AL", "AP")] == [float(v) for v in found.values()]
