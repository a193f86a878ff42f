# SPDX-License-Identifier: Apache-2.0
"""Writes the sample logs of this folder: three invented interpreters of a harbour tour.

`eager` starts early and mishears more; `patient` waits long, `steady` less long and hears the same.
Run `python make.py` to write them again.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

HERE = Path(__file__).parent
TOUR = """\
Welcome aboard and please keep your hands inside the boat.
The harbour you see on your left was built in four years.
Before the storm there were two towers at the entrance.
Only the northern one is still standing today.
Every evening its keeper lights the lamp by hand.
On clear nights the light can be seen from thirty miles away.
We are now passing the old fish market.
It opens at five in the morning and closes before noon.
The women who ran it decided the price of every herring.
If you look closely you can still read their names on the wall.
The red warehouse next to it used to store salt.
Salt was worth more than the ships that carried it.
Please mind your head under the bridge.
This bridge was opened by a queen who never came back.
She had promised to return for the hundredth anniversary.
The town is still keeping a chair for her.
Our next stop is the island of the gardeners.
Nobody lives there in winter because the wells freeze.
In spring three families move back with their goats.
They grow the only lemons north of the river.
A cup of lemon tea is included in your ticket.
The captain asks you to return the cups afterwards.
On the right you can see the research vessel.
It measures how warm the water is at every depth.
The numbers are painted on its side once a month.
Last year the paint had to be renewed twice.
Seals like to sleep on the sandbank behind the vessel.
They are not afraid of boats but they dislike music.
We will therefore switch off the loudspeaker for a moment.
Thank you for your patience and for your silence.
The wooden crane in front of us is two hundred years old.
Two men had to walk inside the wheel to lift a barrel.
They changed places every quarter of an hour.
One of them wrote a diary that is now in the museum.
The museum is open until six and children pay nothing.
We will arrive at the pier in about ten minutes.
Please stay seated until the boat has come to a halt.
The next tour starts when the church bell rings.
It rings at every full hour but not on Mondays.
We hope you enjoyed the tour and wish you a good day.
""".splitlines()
MISHEARD = {
    "harbour": "neighbour", "left": "lift", "towers": "powers", "lamp": "lamb", "fish": "fresh",
    "price": "prize", "names": "games", "salt": "silt", "ships": "shops", "bridge": "fridge",
    "queen": "green", "chair": "share", "winter": "printer", "wells": "bells", "goats": "coats",
    "lemons": "lessons", "cup": "cap", "vessel": "muscle", "warm": "warn", "paint": "pain",
    "Seals": "Meals", "boats": "goats", "loudspeaker": "speaker", "crane": "train", "wheel": "meal",
    "barrel": "barrier", "diary": "dairy", "museum": "news", "pier": "beer", "bell": "bill",
    "tour": "door", "island": "Ireland", "keeper": "deeper", "captain": "cabin",
}  # fmt: skip


def stream(
    words: list[str], rng: random.Random, wait_ms: float, slip: float, compute_ms: float
) -> tuple[list[str], list[float], list[float], float]:
    """What one interpreter says of a sentence: words, delays, times with computation, length."""
    ends, clock = [], 200.0
    for word in words:
        clock += 180.0 + 45.0 * len(word)
        ends.append(clock)
    length = clock + 150.0
    said, delays, elapsed, done = [], [], [], 0.0
    jitter = random.Random(len(words))
    for word, end in zip(words, ends, strict=True):
        plain = word.strip(".,")
        if rng.random() < slip / 3:
            continue  # left out
        heard = word.replace(plain, MISHEARD.get(plain, plain)) if rng.random() < slip else word
        at = min(length, 500.0 * -(-(end + wait_ms) // 500.0))
        at = max(at, delays[-1] if delays else 0.0)
        if not delays or at > delays[-1]:
            done = max(at, done) + compute_ms * (0.8 + 0.4 * jitter.random())
        said.append(heard)
        delays.append(at)
        elapsed.append(round(done, 1))
    return said, delays, elapsed, length


def write_log(name: str, seed: int, wait_ms: float, slip: float, compute_ms: float) -> None:
    """SimulEval's two files for one interpreter."""
    rng = random.Random(seed)
    folder = HERE / "systems" / name
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for index, sentence in enumerate(TOUR):
        said, delays, elapsed, length = stream(sentence.split(), rng, wait_ms, slip, compute_ms)
        line = {
            "index": index,
            "prediction": " ".join(said),
            "delays": delays,
            "elapsed": elapsed,
            "prediction_length": len(said),
            "reference": sentence,
            "source": [f"tour-{index:02}.wav", "samplerate: 16000 Hz"],
            "source_length": length,
        }
        lines.append(json.dumps(line) + "\n")
    (folder / "instances.log").write_text("".join(lines), encoding="utf-8")
    (folder / "config.yaml").write_text("source_type: speech\ntarget_type: text\n")


def write_talk() -> None:
    """The whole tour as one recording: its segments, references, and a simulstream log that takes
    words back."""
    rng = random.Random(9)
    folder = HERE / "talk"
    folder.mkdir(parents=True, exist_ok=True)
    segments, steps, offset, guess = [], [], 2.0, []
    for sentence in TOUR[:20]:
        words = sentence.split()
        said, delays, elapsed, length = stream(words, rng, 700.0, 0.3, 120.0)
        segments.append(
            f"- {{wav: tour.wav, offset: {offset:.3f}, duration: {length / 1000:.3f}}}\n"
        )
        rows = list(zip(said, delays, elapsed, strict=True))
        for at in dict.fromkeys(delays):
            tokens = [f"▁{word}" for word, delay, _ in rows if delay == at]
            took = max(e - d for _, d, e in rows if d == at)
            deleted, guess = guess, ["▁well"] if rng.random() < 0.15 and at < length else []
            steps.append((offset + at / 1000, took / 1000, tokens + guess, deleted))
        offset += length / 1000 + 0.6
    lines = [{"id": 0, "metadata": {"wav_name": "tour.wav"}}]
    for at, took, new, deleted in steps:
        lines.append(
            {
                "id": 0,
                "total_audio_processed": round(at, 3),
                "computation_time": round(took, 4),
                "generated_tokens": new,
                "deleted_tokens": deleted,
            }
        )
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text, encoding="utf-8")
    (folder / "segments.yaml").write_text("".join(segments), encoding="utf-8")
    (folder / "references.txt").write_text("\n".join(TOUR[:20]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_log("eager", 1, 250.0, 0.55, 90.0)
    write_log("patient", 2, 1900.0, 0.12, 260.0)
    write_log("steady", 2, 1100.0, 0.12, 150.0)
    write_talk()
