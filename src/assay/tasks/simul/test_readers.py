# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.core.document import Intake
from assay.core.errors import AssayError, InputError
from assay.tasks.simul.convert import convert
from assay.tasks.simul.doctor import inspect
from assay.tasks.simul.events import Event, EventLog, Header
from assay.tasks.simul.segments import found_under, read_recordings
from assay.tasks.simul.simulstream import Talk

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"


def instance(index: int = 0, **other: Any) -> str:
    line = {
        "index": index,
        "prediction": "a b",
        "delays": [1000.0, 2000.0],
        "elapsed": [1100.0, 2300.0],
        "reference": "a b c\n",
        "source": ["x.wav"],
        "source_length": 2500.0,
    }
    return json.dumps({**line, **other}) + "\n"


def scored(path: Path, gold: Path | None = None, **options: Any) -> dict[str, float]:
    return dict(evaluate("simul", path, gold, ci=0, **options).scores)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty"),
        ("\n\n", "is no log"),
        ("just text\n", "does not begin with a JSON object"),
        ('{"a": 1, "b": 2}\n', "its first line has 'a', 'b'"),
        (instance() + "\n" + instance(1), "line 2: a blank line between records"),
        (instance() + "{broken\n", "line 2, column 2"),
        (instance() + instance(0), "line 2: index 0 appears twice"),
        (instance() + instance(1) + instance(1), "line 3: index 1 appears twice"),
        (instance(delays=["x"]), r"line 1: expected `float`, got `str` - at `\$.delays\[0\]`"),
        (instance().replace("1000.0", "NaN"), "line 1, column .*: NaN is not JSON"),
        (instance().replace('"source_length": 2500.0', '"x": 1'), "line 1: no source_length"),
        (instance() + instance(1, source_length=-5), "line 2: source_length is -5"),
    ],
)
def test_a_bad_log_is_named_with_its_line(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "instances.log"
    path.write_text(content)
    with pytest.raises(AssayError, match=problem):
        scored(path)


def test_times_that_nobody_asks_for_are_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "instances.log"
    path.write_text(instance(elapsed=["late"]))
    assert scored(path, metrics=["LAAL"])["LAAL"] > 0
    with pytest.raises(InputError, match=r"instances.log, line 1: elapsed: expected `float`"):
        scored(path, metrics=["LAAL_CA"])
    path.write_text(instance(elapsed=[1.0]) + instance(1))  # one of two: undefined, and counted
    result = evaluate("simul", path, ci=0, metrics=["LAAL_CA"])
    assert result.document.extra["undefined"] == {"LAAL_CA": 1}


def test_packed_logs_and_logs_longer_than_a_block(tmp_path: Path) -> None:
    lines = "".join(instance(i, prediction="w" * (i % 50)) for i in range(9000))
    plain, packed = tmp_path / "instances.log", tmp_path / "packed.log"
    plain.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    result = evaluate("simul", plain, ci=0, metrics=["LAAL", "StartOffset"])
    assert result.document.counts.matched == 9000
    assert scored(packed, metrics=["LAAL", "StartOffset"]) == result.scores
    assert evaluate("simul", plain, ci=0, metrics=["LAAL_CA"], jobs=2).scores == scored(
        plain, metrics=["LAAL_CA"]
    )


def test_references_are_found_by_the_index(tmp_path: Path) -> None:
    log, gold = tmp_path / "instances.log", tmp_path / "gold.txt"
    log.write_text(instance(2, prediction="c c") + instance(0, prediction="a a"))
    gold.write_text("a a\nb b\nc c\n")
    with pytest.raises(AssayError, match=r"1 of 3 references have no stream \(first: line 2\)"):
        scored(log, gold)
    options: dict[str, Any] = {"metrics": ["WER", "LAAL"]}
    skipped = evaluate("simul", log, gold, ci=0, missing="skip", **options)
    wrong = evaluate("simul", log, gold, ci=0, missing="wrong", **options)
    assert skipped.scores["WER"] == 0.0
    assert wrong.scores["WER"] == pytest.approx(100 * 2 / 6)
    assert wrong.scores["LAAL"] == skipped.scores["LAAL"]
    assert wrong.document.extra["undefined"]["LAAL"] == 1
    gold.write_text("a a\n")
    with pytest.raises(AssayError, match="index 2 has no reference: there are 1"):
        scored(log, gold)


def test_quality_needs_references_if_it_was_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "instances.log"
    log.write_text(instance(reference=None))
    assert "BLEU" not in scored(log)
    with pytest.raises(AssayError, match="BLEU cannot be measured: there are no references"):
        scored(log, quality_metrics=["BLEU"])


def test_streams_that_lack_a_reference_are_told(tmp_path: Path) -> None:
    log = tmp_path / "instances.log"
    log.write_text(instance() + instance(1, reference=None) + instance(2, reference=None))
    result = evaluate("simul", log, ci=0, metrics=["WER"])
    said = f"{log}: 2 of 3 streams have no reference, which counts as an empty one (first: line 2)"
    assert list(result.document.warnings) == [said]


def test_a_config_is_believed_unless_the_log_says_otherwise(tmp_path: Path) -> None:
    log, config = tmp_path / "instances.log", tmp_path / "config.yaml"
    log.write_text(instance())
    config.write_text("source_type: speech\ntarget_type: speech\n")
    result = evaluate("simul", tmp_path, ci=0)
    assert "says target_type: speech, but the log holds text" in result.document.warnings[0]
    log.write_text(instance(durations=[300.0, 500.0], prediction="/wavs/0_pred.wav"))
    spoken = evaluate("simul", tmp_path, ci=0, metrics=["DiscontinuitySum", "EndOffset"])
    assert spoken.scores == {"DiscontinuitySum": 700.0, "EndOffset": 0.0}
    log.write_text(instance(durations=[300.0, 500.0]) + instance(1, durations=[300.0]))
    with pytest.raises(InputError, match=r"instances.log, line 2: 2 delays, but 1 durations"):
        scored(tmp_path)
    log.write_text(instance(durations=[300.0, 500.0], prediction="/wavs/0_pred.wav"))
    with pytest.raises(AssayError, match="the output is speech"):
        scored(tmp_path, quality_metrics=["BLEU"])
    config.write_text("source_type: video\n")
    with pytest.raises(InputError, match="source_type is 'video'; it must be text or speech"):
        scored(tmp_path)
    config.write_text("nonsense\n")
    with pytest.raises(InputError, match=r"config.yaml, line 1: not a line of the form key: value"):
        scored(tmp_path)


# -- simulstream --------------------------------------------------------------------------------


def test_words_have_the_time_of_the_step_that_gave_them_their_form() -> None:
    talk = Talk("t", "word", "word")
    talk.step(1000, 100, [], ["one", "two"])
    talk.step(2000, 100, ["two"], ["too"])
    talk.step(3000, 100, ["one", "too"], [])
    talk.step(4000, 100, [], ["last"])
    emission = talk.emission()
    assert (emission.text, emission.delays, emission.deleted) == ("last", [4000.0], 3.0)


def test_characters_have_times_of_their_own() -> None:
    talk = Talk("t", "char", "char")
    talk.step(1000, 0, [], ["你", "好"])
    talk.step(2000, 0, ["好"], ["们", " ", "a"])
    emission = talk.emission()
    assert (emission.text, emission.delays) == ("你们 a", [1000.0, 2000.0, 2000.0])
    talk.step(3000, 0, ["们", " ", "a"], ["们"])  # a blank is no character that is taken back
    assert talk.emission().deleted == 3.0


@pytest.mark.parametrize(
    ("ca", "aware"), [("chunk", [2500.0, 2200.0]), ("queue", [2500.0, 2700.0]), ("simuleval", [2500.0, 3700.0])]
)  # fmt: skip
def test_computation_of_steps_by_each_definition(ca: str, aware: list[float]) -> None:
    talk = Talk("t", "word", "word", ca)
    talk.step(1000, 1500, [], ["a"])
    talk.step(2000, 200, [], ["b"])
    assert talk.emission().elapsed == aware


def test_tokens_can_only_be_taken_back_from_the_end() -> None:
    talk = Talk("t")
    talk.step(1000, 0, [], ["▁a", "▁b"])
    with pytest.raises(ValueError, match="not what stands at the end"):
        talk.step(2000, 0, ["▁a"], [])


# -- recordings ---------------------------------------------------------------------------------

YAML = "- {duration: 2.0, offset: 1.0, wav: 'a, b.wav'}\n- duration: 1.5\n  offset: 3.25\n  wav: a, b.wav\n"
COMMENTED = """# segments
---
- {duration: 2.0, offset: 1.0, rW: 3, wav: "a, b.wav"} # the first
-   wav: 'a, b.wav'  # the second
    offset: 3.25
    duration: 1.5
"""
WRAPPED = """- {duration: 2.0, offset: 1.0, speaker_id: a#1,
  wav: 'a, b.wav'}
- {duration: 1.5, offset: 3.25, wav: "a, b.wav"
  }
"""
FLOW = """[{duration: 2.0, offset: 1.0, wav: 'a, b.wav'}, {duration: 1.5,
  offset: 3.25, wav: 'a, b.wav'}]
"""
JSON = '[{"wav": "a, b.wav", "offset": 1.0, "duration": 2.0}, {"wav": "a, b.wav", "offset": 3.25, "duration": 1.5}]'


@pytest.mark.parametrize("text", [YAML, COMMENTED, WRAPPED, FLOW, JSON])
def test_segments_of_yaml_and_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "segments.yaml"
    path.write_text(text.replace("  wav: a, b.wav", '  wav: "a, b.wav"'))
    (recording,) = read_recordings(path, ["x", "y"], Intake())
    assert (recording.name, recording.end) == ("a, b.wav", 4750.0)
    assert [(s.offset, s.duration) for s in recording.segments] == [
        (1000.0, 2000.0),
        (3250.0, 1500.0),
    ]
    (shifted,) = read_recordings(path, ["x", "y"], Intake(), from_first=True)
    assert [s.offset for s in shifted.segments] == [0.0, 2250.0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- {duration: 2.0, offset: 1.0}\n", "line 1: a segment without wav"),
        ("- {duration: x, offset: 1.0, wav: a}\n", "line 1: offset and duration must be seconds"),
        ("- {duration: nan, offset: 1, wav: a}\n", "line 1: offset 1.0 and duration nan are no"),
        ("- {duration: 1, offset: -inf, wav: a}\n", "line 1: offset -inf and duration 1.0 are no"),
        ("nothing\n", "line 1: not a list of segments"),
        ("- {wav: a, offset: 1,\n\n", "line 1: a brace that is not closed"),
        ("[1]\n", "is not a JSON list"),
        ("- {wav: a, offset: 0, duration: 1}\n", "1 segments, but 2 references"),
    ],
)
def test_bad_segments_are_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "segments.yaml"
    path.write_text(text)
    with pytest.raises(AssayError, match=problem):
        read_recordings(path, ["x", "y"], Intake())


@pytest.mark.parametrize(
    ("name", "names", "found"),
    [
        ("a.wav", ["b.wav", "a.wav"], "a.wav"),
        ("/data/a.wav", ["a.wav"], "a.wav"),
        ("a", ["x/a.wav"], "x/a.wav"),
        ("2022.acl-long.268.wav", ["2022.acl-long.268"], "2022.acl-long.268"),
        ("c.wav", ["a.wav"], None),
    ],
)
def test_recordings_go_by_several_names(name: str, names: list[str], found: str | None) -> None:
    assert found_under(name, names) == found


def long_log(tmp_path: Path, **other: Any) -> tuple[Path, Path, Path]:
    log, segments, gold = (tmp_path / n for n in ("long.jsonl", "segments.yaml", "gold.txt"))
    line = {
        "index": 0,
        "prediction": "guten morgen heute geht es",
        "delays": [1500.0, 2000.0, 4000.0, 4500.0, 5000.0],
        "elapsed": [1600.0, 2200.0, 4400.0, 5000.0, 5600.0],
        "source": "talk.wav",
    }
    log.write_text(json.dumps({**line, **other}) + "\n")
    segments.write_text(
        "- {wav: talk.wav, offset: 0.5, duration: 2}\n- {wav: talk.wav, offset: 3, duration: 1.5}\n"
    )
    gold.write_text("Guten Morgen\nheute geht es\n")
    return log, segments, gold


def test_output_of_a_recording_is_divided_and_times_count_from_each_segment(tmp_path: Path) -> None:
    log, segments, gold = long_log(tmp_path)
    result = evaluate("simul", log, gold, ci=0, segments=str(segments), computation_aware=True)
    first, second = [e.prediction for e in result.examples]
    assert (first.text, first.delays, first.elapsed) == (
        "guten morgen",
        [1000.0, 1500.0],
        [1100.0, 1700.0],
    )
    assert (second.text, second.delays) == ("heute geht es", [1000.0, 1500.0, 2000.0])
    assert (second.to_end, second.source_length) == (1500.0, 1500.0)
    # First: (1000 + 1500-1000) / 2; second: 1000, for the others come with the end of the recording.
    assert result.scores["LongYAAL"] == (750 + 1000) / 2
    assert "|resegment:softsegmenter|ca:simuleval|" in result.document.signature


def test_recordings_must_fit(tmp_path: Path) -> None:
    log, segments, gold = long_log(tmp_path, source=["other.wav", "16 kHz"])
    options: dict[str, Any] = {"segments": str(segments), "metrics": ["WER", "LongLAAL"]}
    with pytest.raises(AssayError, match=r"no output for 1 of 1 recordings \(first: 'talk.wav'\)"):
        scored(log, gold, **options)
    empty = evaluate("simul", log, gold, ci=0, missing="wrong", **options)
    assert empty.scores["WER"] == 100.0
    assert "1 outputs belong to no recording" in " ".join(empty.document.warnings)
    log, segments, gold = long_log(tmp_path, delays=[1.0])
    with pytest.raises(AssayError, match="has 5 words, but 1 delays"):
        scored(log, gold, **options)
    with pytest.raises(AssayError, match="--segments needs the references too"):
        scored(log, None, **options)


def test_plain_text_of_documents_is_divided_for_quality(tmp_path: Path) -> None:
    hypothesis, segments, gold = (tmp_path / n for n in ("out.txt", "docs.txt", "gold.txt"))
    hypothesis.write_text("one two three four\nfive six\n")
    segments.write_text("docid=A,segid=0\ndocid=A,segid=1\ndocid=B,segid=0\n")
    gold.write_text("one two\nthree four\nfive six\n")
    found = evaluate(
        "simul", hypothesis, gold, ci=0, segments=str(segments), metrics=["WER"], slices=["recording"]
    )  # fmt: skip
    assert found.scores == {"WER": 0.0}
    assert [e.prediction.text for e in found.examples] == ["one two", "three four", "five six"]
    assert list(found.document.slices["recording"]) == ["A", "B"]


def test_char_level_takes_delays_with_and_without_blanks(tmp_path: Path) -> None:
    log, segments, gold = long_log(
        tmp_path, prediction="你好 世界", delays=[1000.0, 1000.0, 4000.0, 4000.0], elapsed=[]
    )
    gold.write_text("你好\n世界\n")
    found = evaluate("simul", log, gold, ci=0, segments=str(segments), char_level=True)
    assert [e.prediction.text.strip() for e in found.examples] == ["你好", "世界"]
    assert found.scores["LongLAAL"] == pytest.approx((500 - 500 + 1000 - 375) / 2, rel=2)


# -- events and conversions ---------------------------------------------------------------------


def test_a_live_run_is_scored_from_its_log(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.jsonl", Header("speech", "text", "word")) as log:
        log.open("0", source_length=2000, reference="a b c")
        log.step("0", Event(1000, 1000, 2500, ["a"]))
        log.step("0", Event(2000, 2500, 2700, ["b", "x"]))
        log.step("0", Event(2000, 2700, 2800, ["c"], 1))
        log.close("0")
        log.open("1", source_length=900, reference="d")
    result = evaluate(
        "simul", tmp_path, ci=0,
        metrics=["WER", "StartOffset", "StartOffset_CA", "NormalisedErasure", "RTF@simulstream"],
    )  # fmt: skip
    assert result.scores == {
        "WER": 0.0,
        "StartOffset": 1000.0,
        "StartOffset_CA": 2500.0,
        "NormalisedErasure": pytest.approx(1 / 3),
        "RTF@simulstream": pytest.approx(1.8 / 2),
    }
    assert "1 streams did not finish and are left out (first: '1')" in result.document.warnings[0]
    chunk = evaluate("simul", tmp_path, ci=0, metrics=["EndOffset_CA"], ca_times="chunk")
    assert chunk.scores["EndOffset_CA"] == 100.0


def test_what_was_taken_back_survives_another_format(tmp_path: Path) -> None:
    log = GOLDEN / "simulstream-log-retranslation" / "metrics.jsonl"
    names = ["NormalisedErasure", "RTF@simulstream", "StartOffset_CA", "ATD", "NumChunks"]
    wanted = scored(log, metrics=names)
    events = tmp_path / "events"
    convert(str(log), "events", str(events))
    # Pieces of words become words, each with the time of its last change.
    assert scored(events, metrics=names, ca_times="chunk") == pytest.approx(wanted)
    convert(str(events), "events", str(tmp_path / "again"))
    again = (tmp_path / "again" / "events.jsonl").read_bytes()
    assert again == (events / "events.jsonl").read_bytes()
    convert(str(events), "simulstream", str(tmp_path / "back"))
    assert scored(tmp_path / "back" / "metrics.jsonl", metrics=names) == pytest.approx(wanted)


def test_events_of_a_simuleval_log_hold_the_computation_of_each_step(tmp_path: Path) -> None:
    log = tmp_path / "instances.log"
    log.write_text(instance(elapsed=[1100.0, 2300.0]))
    convert(str(log), "events", str(tmp_path / "events"))
    # 100 ms until the first word, 200 ms more until the second: not 300 ms for the second step.
    assert scored(tmp_path / "events", metrics=["RTF@simulstream"])["RTF@simulstream"] == 0.12
    convert(str(tmp_path / "events"), "simuleval", str(tmp_path / "back"))
    (line,) = (tmp_path / "back" / "instances.log").read_text().splitlines()
    assert json.loads(line)["elapsed"] == [1100.0, 2300.0]


def test_characters_survive_another_format(tmp_path: Path) -> None:
    log = tmp_path / "instances.log"
    log.write_text(
        instance(prediction="你", delays=[1.0], elapsed=[])
        + instance(1, prediction="你们 a。", delays=[1.0, 2.0, 3.0, 4.0], elapsed=[])
    )
    for to in ("events", "simulstream"):
        written = convert(str(log), to, str(tmp_path / to))
        back = tmp_path / f"{to} back"
        convert(written, "simuleval", str(back), eval_latency_unit="char")
        found = [json.loads(line) for line in (back / "instances.log").read_text().splitlines()]
        assert [one["prediction"] for one in found] == ["你", "你们 a。"]
        assert [one["delays"] for one in found] == [[1.0], [1.0, 2.0, 3.0, 4.0]]


def test_references_of_a_file_go_by_number_when_a_log_is_converted(tmp_path: Path) -> None:
    log, gold = tmp_path / "instances.log", tmp_path / "gold.txt"
    log.write_text(instance(1) + instance(0))
    gold.write_text("first\nsecond\n")
    for to in ("simuleval", "events"):
        convert(str(log), to, str(tmp_path / to), str(gold))
    lines = (tmp_path / "simuleval" / "instances.log").read_text().splitlines()
    found = {one["index"]: one["reference"] for one in map(json.loads, lines)}
    assert found == {0: "first", 1: "second"}
    text = (tmp_path / "events" / "events.jsonl").read_text()
    assert '{"id":"1","open":{"source_length":2500.0,"reference":"second"' in text


@pytest.mark.parametrize("to", ["simuleval", "omnisteval", "events", "simulstream", "fairseq"])
@pytest.mark.parametrize("name", ["simuleval-s2t-word", "simuleval-s2t-300"])
def test_latency_survives_another_format(tmp_path: Path, name: str, to: str) -> None:
    written = convert(str(GOLDEN / name), to, str(tmp_path / to)).splitlines()
    assert all(Path(file).is_file() for file in written)
    log = Path(next(f for f in written if not f.endswith((".yaml", "text"))))
    log = log.parent if to == "fairseq" else log
    names = ["DAL", "ATD", "StartOffset", "EndOffset", "NumChunks"]
    names += [] if to == "fairseq" else ["EndOffset_CA"]
    before = scored(GOLDEN / name, metrics=names)
    if to == "fairseq":
        names = ["ATD", "StartOffset", "EndOffset", "NumChunks"]
    after = scored(log, metrics=names, source_type="speech")
    for key, value in after.items():
        if to in ("events", "simulstream") and key == "EndOffset_CA":
            continue  # elapsed times of SimulEval are not those of a queue
        if to == "simulstream" and key == "EndOffset":
            continue  # its source ends with the last step
        assert value == pytest.approx(before[key], rel=1e-12), key


def test_a_live_run_can_be_scored_by_characters(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.jsonl", Header("speech", "text", "word")) as log:
        log.open("0", source_length=3000, reference="你好世界!")
        log.step("0", Event(1000, 1000, 1100, ["你好"]))
        log.step("0", Event(3000, 3000, 3300, ["世", "界"]))
        log.close("0")
    names: dict[str, Any] = {
        "metrics": ["NumChunks", "LAAL", "EndOffset_CA", "StartOffset_CA"],
        "ci": 0,
    }
    found = evaluate("simul", tmp_path, eval_latency_unit="char", **names)
    # 你 好 at 1 s, 世 界 at 3 s; a unit of the reference takes 600 ms: 1000, 400, 1800.
    assert found.scores == {
        "NumChunks": 4, "LAAL": pytest.approx(3200 / 3), "EndOffset_CA": 300, "StartOffset_CA": 1100,
    }  # fmt: skip
    assert not found.document.warnings
    # A log of characters knows that it is one.
    convert(str(GOLDEN / "simuleval-s2t-char-zh"), "events", str(tmp_path / "e"), eval_latency_unit="char")  # fmt: skip
    before = scored(GOLDEN / "simuleval-s2t-char-zh", metrics=["LAAL"], eval_latency_unit="char")
    assert scored(tmp_path / "e", metrics=["LAAL"]) == pytest.approx(before)


def test_text_and_references_survive_another_format(tmp_path: Path) -> None:
    before = scored(GOLDEN / "simuleval-t2t-waitk", metrics=["BLEU", "LAAL", "ATD"])
    for to in ("simuleval", "events"):
        convert(str(GOLDEN / "simuleval-t2t-waitk"), to, str(tmp_path / to))
        assert scored(tmp_path / to, metrics=["BLEU", "LAAL", "ATD"]) == pytest.approx(before)
    convert(str(GOLDEN / "simuleval-t2t-waitk"), "fairseq", str(tmp_path / "f"))
    gold = GOLDEN / "simuleval-t2t-waitk" / "target.txt"
    assert scored(tmp_path / "f", gold, metrics=["BLEU", "LAAL", "ATD"]) == pytest.approx(before)


# -- further ways in ----------------------------------------------------------------------------


def test_streams_in_memory() -> None:
    lines = (GOLDEN / "simuleval-s2t-word" / "instances.log").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    wanted = scored(GOLDEN / "simuleval-s2t-word", metrics=["BLEU", "LAAL", "LAAL_CA", "ATD"])
    found = evaluate("simul", records, ci=0, metrics=["BLEU", "LAAL", "LAAL_CA", "ATD"])
    assert found.scores == pytest.approx(wanted)
    gold = [r.pop("reference").strip() for r in records]
    again = evaluate("simul", records, gold, ci=0, metrics=["BLEU", "LAAL"])
    assert again.scores["LAAL"] == pytest.approx(wanted["LAAL"])
    with pytest.raises(AssayError, match="record 0 is no mapping with prediction, delays and"):
        evaluate("simul", ["text"], ci=0)


def test_simuleval_scores_spoken_output_without_its_durations(tmp_path: Path) -> None:
    (tmp_path / "instances.log").write_text(
        instance(durations=[300.0, 500.0], prediction="/wavs/0_pred.wav", elapsed=[])
    )
    (tmp_path / "config.yaml").write_text("source_type: speech\ntarget_type: speech\n")
    names = ["EndOffset", "RTF"]
    assert scored(tmp_path, metrics=names) == {"EndOffset": 0.0, "RTF": 1.0}
    old = scored(tmp_path, metrics=names, compat="simuleval")
    assert old == {"EndOffset": -500.0, "RTF": 0.8}
    (tmp_path / "instances.log").write_text(
        instance(durations=[300.0, 500.0], intervals=[[1000, 300], [2000, 500]], prediction="x.wav")
    )
    old = scored(tmp_path, metrics=[*names, "ATD"], compat="simuleval")
    assert (old["EndOffset"], old["RTF"]) == (0.0, 0.8)


def test_what_was_read_is_not_written_again(tmp_path: Path) -> None:
    lines = instance(source="x y", source_length=2, note="kept")
    (tmp_path / "instances.log").write_text(lines)
    result = evaluate("simul", tmp_path, ci=0, metrics=["LAAL"], output=str(tmp_path))
    assert (tmp_path / "instances.log").read_text() == lines
    assert list(result.written) == ["scores.tsv, metrics.tsv, config.yaml"]
    other = tmp_path / "other"
    evaluate("simul", tmp_path, ci=0, metrics=["LAAL"], output=str(other))
    assert json.loads((other / "instances.log").read_text())["source"] == "x y"


def test_times_of_sentences_can_be_fixed_too(tmp_path: Path) -> None:
    path = tmp_path / "instances.log"
    path.write_text(instance())
    fixed = scored(path, metrics=["EndOffset_CA"], fix_simuleval_emission_ca=True)
    assert fixed["EndOffset_CA"] == 2300.0 - 1100.0 + 1000.0 - 2500.0


def test_slices_by_length(tmp_path: Path) -> None:
    path = tmp_path / "instances.log"
    path.write_text(instance() + instance(1, source_length=4100.0, reference="w " * 12))
    result = evaluate("simul", path, ci=0, metrics=["LAAL"], slices=["length", "source_length"])
    assert {k: list(v) for k, v in result.document.slices.items()} == {
        "length": ["0-9", "10-19"],
        "source_length": ["2-4 s", "4-6 s"],
    }


def test_words_are_in_no_regime_of_seconds() -> None:
    with pytest.raises(AssayError, match="the latency of text is in words"):
        scored(GOLDEN / "simuleval-t2t-waitk", regime=["low=0-2"])


@pytest.mark.parametrize(
    ("second", "options", "remark"),
    [
        ({"delays": [2000.0, 1000.0]}, {}, "1 stream with delays that fall (first: '1', line 2)"),
        ({"delays": [-1.0, 0.0]}, {}, "1 stream with delays below 0 (first: '1', line 2)"),
        ({"delays": [0.0]}, {}, "1 stream with another number of delays than words (first: '1', line 2)"),
        (
            {"prediction": "你好", "delays": [1.0, 2.0]},
            {},
            "1 stream with a delay for each character, not for each word; --eval-latency-unit char "
            "counts references so too (first: '1', line 2)",
        ),
        (
            {"prediction": "你们 好"},
            {"eval_latency_unit": "char"},
            "1 stream with another number of delays than characters (first: '1', line 2)",
        ),
        ({"prediction": "你 好", "delays": [1.0, 2.0, 2.0]}, {"eval_latency_unit": "char"}, None),
        ({"delays": [0.0, 0.0]}, {}, None),
    ],
)  # fmt: skip
def test_delays_that_cannot_be_are_told(
    tmp_path: Path, second: dict[str, Any], options: dict[str, Any], remark: str | None
) -> None:
    log = tmp_path / "instances.log"
    first: dict[str, Any] = {"prediction": "ab"} if options else {}
    log.write_text(instance(**first) + instance(1, **second))
    result = evaluate("simul", log, ci=0, metrics=["LAAL"], **options)
    wanted = () if remark is None else (f"{log}: {remark}",)
    assert tuple(result.document.warnings) == wanted
    # References from a file, and lines stay what they are.
    gold = tmp_path / "gold.txt"
    gold.write_text("a b\nc d\n")
    again = evaluate("simul", log, gold, ci=0, metrics=["LAAL"], **options)
    assert tuple(again.document.warnings) == wanted


def test_odd_delays_of_other_logs_are_told_too(tmp_path: Path) -> None:
    (tmp_path / "delay").write_text(
        '{"src_len": 3, "delays": [1, 2, 3]}\n{"src_len": 3, "delays": [1, 2, 1]}\n'
    )
    (tmp_path / "text").write_text("a b\nc\n")
    result = evaluate("simul", tmp_path, ci=0, metrics=["AL@fairseq"])
    place = "(first: '1', line 2)"
    assert list(result.document.warnings) == [
        f"{tmp_path} has no references: streams are held against the length of their output",
        f"{tmp_path}: 1 stream with delays that fall {place}",
        f"{tmp_path}: 1 stream with another number of delays than words {place}",
    ]
    (tmp_path / "delay").write_text('{"src_len": -1, "delays": [1, 2, 3]}\n')
    (tmp_path / "text").write_text("a b\n")
    with pytest.raises(InputError, match="delay, line 1: src_len is -1; a source has 0 or more"):
        evaluate("simul", tmp_path, ci=0)
    log, segments, gold = long_log(tmp_path, delays=[1500.0, 2000.0, 4000.0, 3500.0, 5000.0])
    result = evaluate("simul", log, gold, ci=0, segments=str(segments))
    assert list(result.document.warnings) == [
        f"{log}: 1 stream with delays that fall (first: 'talk.wav', line 1)"
    ]


def test_a_log_is_looked_at_by_the_doctor(tmp_path: Path) -> None:
    found = inspect(str(GOLDEN / "simuleval-s2t-word" / "instances.log"))
    assert found is not None
    assert found.notes[0] == "log of simuleval: speech to text, 10 streams"
    assert any(line.startswith("1 stream without output") for line in found.findings)
    assert any(
        "wrote after the end of the source (first: '4', line 5)" in line for line in found.findings
    )
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": 1}\n')
    assert inspect(str(other)) is None
    other.write_text(instance() + "{\n")
    broken = inspect(str(other))
    assert broken is not None
    assert "line 2" in broken.findings[0]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (instance().encode("utf-16"), "UTF-16"),
        (b"\x00\x01\x02" * 100, "is no log"),
        (instance().encode() + b'{"index": 1, "prediction": "\xff"}\n', "line 2"),
        (b'{"index": 0, "prediction": "zw\xf6lf"}\n', "line 1, column 31: byte 0xF6 is not UTF-8"),
        (instance().encode()[:-20], "is no log"),
    ],
)
def test_other_encodings_and_cut_files(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "instances.log"
    path.write_bytes(content)
    with pytest.raises(AssayError, match=problem):
        scored(path)


def test_a_recording_of_hours_is_one_long_line(tmp_path: Path) -> None:
    n = 30_000
    path = tmp_path / "instances.log"
    path.write_text(
        instance(
            prediction="w " * n, delays=[float(i) for i in range(n)], elapsed=[], source_length=n
        )
    )
    assert path.stat().st_size > 300_000
    assert scored(path, metrics=["NumChunks", "LAAL(length=prediction)"]) == {
        "NumChunks": n,
        "LAAL": pytest.approx(0.0, abs=1e-6),
    }


def test_pieces_of_a_model_as_units(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the harbour tour starts here\nthe old harbour light\n" * 20)
    sentencepiece.SentencePieceTrainer.Train(
        input=str(corpus),
        model_prefix=str(tmp_path / "m"),
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    reference = "the old harbour tour"
    pieces = len(model.EncodeAsPieces(reference))
    path = tmp_path / "instances.log"
    path.write_text(instance(reference=reference))
    found = evaluate(
        "simul", path, ci=0, latency_metrics=["AP"],
        eval_latency_unit="spm", eval_latency_spm_model=str(tmp_path / "m.model"),
    )  # fmt: skip
    assert found.scores["AP"] == pytest.approx(3000 / 2500 / pieces)
