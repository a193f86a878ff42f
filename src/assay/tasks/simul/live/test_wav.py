# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from assay.core.errors import InputError
from assay.tasks.simul.live.wav import Header, header, samples


def _write(path: Path, data: object, *, rate: int = 16_000, channels: int = 1) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(data, dtype="<i2").tobytes())
    return path


def test_plain_samples_come_back_as_they_are(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.wav", [0, 1, -1, 32767, -32768])
    assert samples(path).tolist() == [0, 1, -1, 32767, -32768]
    assert header(path) == Header(16_000, 1, 5, True)


def test_length_is_cut_to_whole_milliseconds(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.wav", [0] * 17279)  # 1079.9375 ms
    assert header(path).length_ms == 1079


def test_channels_are_mixed_down_or_left_side_by_side(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.wav", [[10, 20], [-3, -4], [32767, 32767]], channels=2)
    assert samples(path).tolist() == [15, -4, 32767]  # -3.5 goes to the even number
    assert samples(path, raw=True).tolist() == [[10, 20], [-3, -4], [32767, 32767]]


def test_floats_are_scaled_unless_the_old_rule_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([0.0, 0.5, -1.0, 1.0]), 16_000, subtype="FLOAT")
    assert samples(path).tolist() == [0, 16384, -32768, 32767]
    assert samples(path, raw=True).tolist() == [0, 0, -1, 1]


def test_24_bits_lose_the_last_eight(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([0.25, -0.25]), 16_000, subtype="PCM_24")
    assert samples(path).tolist() == [8192, -8192]
    assert not header(path).plain


def test_without_soundfile_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([0.25]), 16_000, subtype="FLOAT")
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(InputError, match=r"not 16-bit PCM; install soundfile .*assay\[speech\]"):
        header(path)


@pytest.mark.parametrize(
    "data", [b"", b"no audio", b"RIFF\x00\x00\x00\x00WAVE", b"RIFF" + b"x" * 40]
)
def test_what_is_no_audio_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.wav: is not an audio file"):
        header(path)


def test_a_file_that_ends_early_gives_what_it_has(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.wav", [1, 2, 3, 4])
    path.write_bytes(path.read_bytes()[:-3])
    assert samples(path).tolist() == [1, 2]
    assert header(path) == Header(16_000, 1, 2, plain=True, lacking=2)


def test_a_file_from_a_pipe_is_as_long_as_it_is(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.wav", range(1_600))
    data = bytearray(path.read_bytes())
    data[4:8] = data[40:44] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    assert header(path) == Header(16_000, 1, 1_600, plain=True)
    assert header(path).length_ms == 100
    assert len(samples(path)) == 1_600


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        header(tmp_path / "a.wav")
