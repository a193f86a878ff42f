# SPDX-License-Identifier: Apache-2.0
"""Writes the sample data of this folder: `python examples/code/make.py`. Always the same bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

HERE = Path(__file__).parent

VERBS = ("get", "set", "load", "find", "count", "merge", "render", "parse", "close", "open")
THINGS = (
    *("kettle lid", "tide table", "lamp", "harbour map", "rope length", "crew list"),
    *("moorings by depth", "next ferry", "signal flags", "log page"),
)
COMMENTS = {
    "get": "returns the {} of this harbour",
    "set": "sets the {} and tells all listeners",
    "load": "loads the {} from the given file",
    "find": "looks for the {} and returns null if there is none",
    "count": "counts the {} that are in use",
    "merge": "merges the {} with that of another harbour",
    "render": "draws the {} on the given canvas",
    "parse": "reads the {} from a line of text",
    "close": "closes the {} and frees what it holds",
    "open": "opens the {} for reading",
}
ERRORS = ("ValueError", "KeyError", "TypeError", "IOError", "IndexError")
NAMES = ("depth", "berth", "crew", "flag", "rope", "tide")

Texts = list[str]


def method_names() -> Texts:
    """Method names in tokens, some of a single one."""
    pairs = [(verb, thing) for verb in VERBS for thing in THINGS]
    return [f"{verb} {thing}" for verb, thing in pairs[::2]] + [
        "close",
        "open",
        "merge",
        "render",
    ] * 3


def comments() -> Texts:
    """A comment for each of fifty methods."""
    pairs = [(verb, thing) for verb in VERBS for thing in THINGS]
    return [COMMENTS[verb].format(thing) for verb, thing in pairs[1::2]]


def repairs(rng: random.Random) -> Texts:
    """Where a variable is misused, and what should stand there; location 1 says nowhere."""
    found = []
    for _ in range(60):
        wrong, right = rng.sample(NAMES, 2)
        place = rng.randint(2, 90)
        found.append("POINTER(1,def) def" if place < 35 else f"POINTER({place},{wrong}) {right}")
    return found


def changed(rng: random.Random, text: str, words: Iterable[str], rate: float) -> str:
    """The text with some words changed, left out or said twice."""
    known, found = sorted(words), []
    for word in text.split(" "):
        dice = rng.random()
        if dice < rate:
            found.append(rng.choice(known))
        elif dice < 1.4 * rate:
            continue
        else:
            found += [word, word] if dice < 1.5 * rate else [word]
    return " ".join(found) or "<OOV>"


def beam(rng: random.Random, text: str, words: Iterable[str], rate: float) -> str:
    """Three candidates, the gold among them now and then."""
    known = list(words)
    return "\t".join(changed(rng, text, known, rate * (1 + 0.3 * k)) for k in range(3))


def moved(rng: random.Random, line: str, rate: float) -> str:
    """A repair that is sometimes elsewhere, something else, or not to be read."""
    dice = rng.random()
    if dice < rate / 2:
        return line.replace("POINTER(", "POINTER(9")
    if dice < rate:
        return f"{line.partition(' ')[0]} {rng.choice(NAMES)}"
    return "POINTER(" if dice < 1.1 * rate else line


def write(name: str, lines: Iterable[str]) -> None:
    """One line each."""
    (HERE / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    """Gold, and what two systems made of it: the heron is better than the gull."""
    names, said, fixes = method_names(), comments(), repairs(random.Random(7))
    classes = [f"CLASS_{random.Random(i).choice(ERRORS)}" for i in range(60)]
    vocabulary = {word for text in (*names, *said) for word in text.split(" ")}
    write("names.gold.txt", names)
    write("comments.gold.txt", said)
    write("repairs.gold.txt", fixes)
    write("exceptions.gold.txt", classes)
    for system, rate, seed in (("gull", 0.32, 1), ("heron", 0.17, 2)):
        rng = random.Random(seed)

        def noisy(text: str, how: Callable[..., str] = changed, rate: float = rate) -> str:
            return how(rng, text, vocabulary, rate)  # noqa: B023  # called before the next system

        write(f"names.{system}.txt", [noisy(text) for text in names])
        write(f"beams.{system}.txt", [noisy(text, beam) for text in names])
        write(f"comments.{system}.txt", [noisy(text) for text in said])
        write(f"repairs.{system}.txt", [moved(rng, line, rate) for line in fixes])
        guesses = [f"CLASS_{rng.choice(ERRORS)}" if rng.random() < rate else c for c in classes]
        write(f"exceptions.{system}.txt", guesses)


if __name__ == "__main__":
    main()
