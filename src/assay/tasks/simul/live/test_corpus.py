# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import wave
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError
from assay.tasks.simul.live.corpus import load_corpus


def _wav(path: Path, ms: int = 50, rate: int = 16_000) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"\x01\x00" * (ms * rate // 1000))
    return path


def _file(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_text_is_split_on_any_white_space_and_a_blank_line_is_a_sentence(tmp_path: Path) -> None:
    source = _file(tmp_path / "s", "a\u00a0b\tc\r\n\nd\n")
    found = load_corpus(source, _file(tmp_path / "t", " x \ny\nz"))
    assert [s.words for s in found.sentences] == [("a", "b", "c"), (), ("d",)]
    assert [s.reference for s in found.sentences] == ["x", "y", "z"]


def _speech(tmp_path: Path, src: str, tgt: str, **more: Any) -> Any:
    return load_corpus(src, tgt, kind="speech", tgt_file_type="text", **more)


def test_a_list_of_audio_files_in_either_place(tmp_path: Path) -> None:
    _wav(tmp_path / "a.wav", 50)
    _wav(tmp_path / "b.wav", 70)
    names = _file(tmp_path / "names", "a.wav\nb.wav\n")  # found beside the list
    texts = _file(tmp_path / "texts", "x\ny\n")
    for first, second in ((names, texts), (texts, names)):
        found = _speech(tmp_path, first, second)
        assert [(s.length, s.reference) for s in found.sentences] == [(50, "x"), (70, "y")]
        assert len(found.notes) == (first == texts)
    assert "names is the list of audio files" in found.notes[0]


def _manifest(tmp_path: Path, about: Any) -> str:
    return _file(tmp_path / "m.json", json.dumps({"utts": {"u": about}}))


def test_a_manifest_gives_order_length_and_reference(tmp_path: Path) -> None:
    _wav(tmp_path / "a.wav", 50)
    about = {"input": {"path": " a.wav ", "length_ms": 45.5}, "output": {"text": " x y "}}
    found = load_corpus("ignored", _manifest(tmp_path, about), kind="speech")
    (sentence,) = found.sentences
    assert (sentence.name, sentence.length, sentence.reference) == ("u", 45.5, "x y")
    assert "--src-file ignored is not used" in found.notes[0]


def test_a_length_beyond_the_audio_is_noted(tmp_path: Path) -> None:
    _wav(tmp_path / "a.wav", 50)
    about = {"input": {"path": "a.wav", "length_ms": 90}, "output": {"text": "x"}}
    assert (
        "'u' is said to last 90 ms"
        in load_corpus(None, _manifest(tmp_path, about), kind="speech").notes[0]
    )


def test_audio_that_ends_early_is_as_long_as_it_is_and_noted(tmp_path: Path) -> None:
    _wav(tmp_path / "a.wav", 50)
    (tmp_path / "a.wav").write_bytes((tmp_path / "a.wav").read_bytes()[: 44 + 2 * 160])
    found = load_corpus(
        None,
        _manifest(tmp_path, {"input": {"path": "a.wav"}, "output": {"text": "x"}}),
        kind="speech",
    )
    assert found.sentences[0].length == 10
    assert "a.wav ends early: of its 800 samples 160 are there" in found.notes[0]


def test_an_utterance_that_is_there_twice(tmp_path: Path) -> None:
    _wav(tmp_path / "a.wav", 50)
    one = '"u": {"input": {"path": "a.wav"}, "output": {"text": "x"}}'
    path = _file(tmp_path / "m.json", f'{{"utts": {{{one},{one}}}}}')
    with pytest.raises(AssayError, match="key 'u' twice"):
        load_corpus(None, path, kind="speech")
    assert len(load_corpus(None, path, kind="speech", old=True)) == 1


BAD_MANIFESTS = [
    ({}, "utterance 'u' has no input.path"),
    ({"input": {"path": 3}, "output": {"text": "x"}}, "has no input.path"),
    ({"input": {"path": "a.wav", "length_ms": "5"}, "output": {"text": "x"}}, "length_ms '5'"),
    ({"input": {"path": "zz.wav"}, "output": {"text": "x"}}, "zz.wav, which does not exist"),
    ({"input": {"path": "m.json"}, "output": {"text": "x"}}, "not a .wav file"),
    ({"input": {"path": "slow.wav"}, "output": {"text": "x"}}, "8,000 Hz, not 16,000"),
]


@pytest.mark.parametrize(("about", "message"), BAD_MANIFESTS, ids=[m for _, m in BAD_MANIFESTS])
def test_bad_manifests(tmp_path: Path, about: Any, message: str) -> None:
    _wav(tmp_path / "a.wav")
    _wav(tmp_path / "slow.wav", rate=8_000)
    with pytest.raises(AssayError, match=message):
        load_corpus(None, _manifest(tmp_path, about), kind="speech")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "x\n", "s: has 2 lines and .*t has 1; each sentence needs one line"),
        ("", "", "s: the file is empty"),
        ("a\n", "\xff", "t.*not UTF-8|t, line 1"),
    ],
)
def test_bad_text(tmp_path: Path, source: str, target: str, message: str) -> None:
    first = _file(tmp_path / "s", source)
    (tmp_path / "t").write_bytes(target.encode("latin-1"))
    with pytest.raises(AssayError, match=message):
        load_corpus(first, str(tmp_path / "t"))


@pytest.mark.parametrize("text", ["x", "[]", '{"utts": []}', ""])
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(AssayError, match=r"m\.json"):
        load_corpus(None, _file(tmp_path / "m.json", text), kind="speech")


def test_the_fingerprint_knows_the_corpus(tmp_path: Path) -> None:
    one = load_corpus(_file(tmp_path / "s", "a b\n"), _file(tmp_path / "t", "x\n"))
    two = load_corpus(_file(tmp_path / "s", "a c\n"), _file(tmp_path / "t", "x\n"))
    assert one.fingerprint != two.fingerprint
