# SPDX-License-Identifier: Apache-2.0
"""The rules for label files written down a second time, sentence by sentence and without arrays.

`old` says whether the replaced program is meant, with its quirks, or the documented default.
Nothing here is shared with the task `metadata`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Line = tuple[str, list[str]]


class RefusedError(Exception):
    """There is no score for this input."""


class Example(NamedTuple):
    """One paper, or one line of predictions: gold and predicted values."""

    id: str
    truth: list[str]
    predicted: list[str]


# Reading


def read(data: bytes, old: bool, drop_empty: bool = False) -> list[Line]:
    """The lines of a label file: ids with their values."""
    if data.startswith(b"\xef\xbb\xbf") and not old:
        data = data[3:]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError("not UTF-8") from error
    lines = re.split("\r\n|\r|\n", text)
    if lines[-1] == "":
        lines.pop()
    found = []
    for line in lines:
        bare = line
        while bare.endswith("\t"):
            bare = bare[:-1]
        if not bare and not old:
            continue
        name, *values = bare.split("\t")
        found.append((name, [v for v in values if v or not drop_empty]))
    return found


def named(file: str) -> str:
    return file.split(".")[0]


def pairs(ours: Mapping[str, bytes], theirs: Mapping[str, bytes], old: bool) -> dict[str, str]:
    """Which file of predictions is held against which file of gold."""
    if not old:
        ours = {f: d for f, d in ours.items() if not f.startswith(".")}
        theirs = {f: d for f, d in theirs.items() if not f.startswith(".")}
    found = {f: f for f in ours if f in theirs}
    if not old:
        for file in ours:
            same_stem = [f for f in theirs if named(f) == named(file)]
            if file not in found and named(file) not in map(named, found):
                if len(same_stem) > 1:
                    raise RefusedError("two gold files of one field")
                if same_stem:
                    found[file] = same_stem[0]
    if len({named(f) for f in found}) < len(found):
        raise RefusedError("two files of one field")
    return found


# Joining


def join(
    predicted: Sequence[Line], gold: Sequence[Line], *, merge: bool = False, scala: bool = False
) -> list[Example]:
    """Examples: every predicted line, then what gold has and nobody predicted.

    That tail is in gold order, or with `scala` in the order of a hash map, beyond four gold ids.
    """
    truth: dict[str, list[str]] = {}
    for name, values in gold:
        truth[name] = truth.get(name, []) + values if merge else values
    lines = list(predicted)
    if merge:
        once: dict[str, list[str]] = {}
        for name, values in lines:
            once[name] = once.get(name, []) + values
        lines = list(once.items())
    found = [Example(name, truth.get(name, []), values) for name, values in lines]
    mentioned = {name for name, _ in lines}
    absent = [name for name in truth if name not in mentioned]
    if scala and len(truth) > 4:
        absent.sort(key=scala_place)
    return found + [Example(name, truth[name], []) for name in absent]


def scala_place(text: str) -> list[int]:
    h = 0
    units = text.encode("utf-16-be")
    for i in range(0, len(units), 2):
        h = (31 * h + units[i] * 256 + units[i + 1]) % 2**32
    h = (h + ((h << 9) % 2**32 ^ 0xFFFFFFFF)) % 2**32
    h ^= h >> 14
    h = (h + (h << 4)) % 2**32
    h ^= h >> 10
    return [h >> shift & 31 for shift in (0, 5, 10, 15, 20, 25, 30)]


# Scores


def hits(example: Example, counting: str) -> int:
    if counting == "set":
        return len(set(example.predicted) & set(example.truth))
    if counting == "reference":
        return len([p for p in example.predicted if p in example.truth])
    left = list(example.truth)
    found = 0
    for value in example.predicted:
        if value in left:
            left.remove(value)
            found += 1
    return found


def size(values: list[str], counting: str) -> int:
    return len(set(values)) if counting == "set" else len(values)


def means(examples: Sequence[Example], counting: str) -> tuple[float, float]:
    """Mean precision over examples with predictions, mean recall over those with truth."""
    p = [hits(e, counting) / size(e.predicted, counting) for e in examples if e.predicted]
    r = [hits(e, counting) / size(e.truth, counting) for e in examples if e.truth]
    return (
        math.fsum(p) / len(p) if p else math.nan,
        math.fsum(r) / len(r) if r else math.nan,
    )


def running(examples: Sequence[Example]) -> tuple[float, float]:
    """The same by the running sums of the replaced program."""
    precision_sum = recall_sum = 0.0
    for e in examples:
        old_precision, old_recall, right = None, 0.0, 0
        for taken, value in enumerate(e.predicted, start=1):
            right += value in e.truth
            precision = right / taken
            precision_sum += precision if old_precision is None else precision - old_precision
            old_precision = precision
            if e.truth:
                recall = right / len(e.truth)
                recall_sum += recall - old_recall
                old_recall = recall
    n_p = len([e for e in examples if e.predicted])
    n_r = len([e for e in examples if e.truth])
    return (precision_sum / n_p if n_p else math.nan, recall_sum / n_r if n_r else math.nan)


def micro(examples: Sequence[Example], counting: str) -> tuple[float, float]:
    """Precision and recall over all values together."""
    right = sum(hits(e, counting) for e in examples)
    n_p = sum(size(e.predicted, counting) for e in examples)
    n_r = sum(size(e.truth, counting) for e in examples)
    return right / n_p if n_p else math.nan, right / n_r if n_r else math.nan


def f1(precision: float, recall: float) -> float:
    if math.isnan(precision) or math.isnan(recall):
        return math.nan
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


# Files and console


def java(value: float) -> str:
    """A number as Java prints it, from the shortest digits that mean it."""
    if math.isnan(value):
        return ""
    if value == 0:
        return "0.0"
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, rest = mantissa.partition(".")
    digits, point = whole + rest, len(whole) + int(exponent or 0)
    leading = len(digits) - len(digits.lstrip("0"))
    digits, point = digits.lstrip("0").rstrip("0"), point - leading
    if 0.001 <= value < 10**7:
        padded = "0" * max(0, 1 - point) + digits
        at = max(point, 1)
        padded = padded.ljust(at, "0")
        return f"{padded[:at]}.{padded[at:] or '0'}"
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def three(value: float) -> str:
    """Three decimals, halves up, on the shortest digits."""
    if math.isnan(value):
        return ""
    plain = java(value)
    if "E" in plain:
        digits, exponent = plain.split("E")
        plain = "0." + "0" * (-int(exponent) - 1) + digits.replace(".", "")
    whole, rest = plain.split(".")
    thousandths = int(whole + rest[:3].ljust(3, "0")) + (rest[3:4] >= "5")
    return f"{thousandths // 1000}.{thousandths % 1000:03d}"


def units(text: str) -> list[int]:
    """UTF-16 code units, by which values are sorted."""
    data = text.encode("utf-16-be")
    return [data[i] * 256 + data[i + 1] for i in range(0, len(data), 2)]


def details(examples: Sequence[Example]) -> str:
    text = "ID\tAccuracy\tLabelType\tLabel\n"
    for e in examples:
        for value in sorted(set(e.truth), key=units):
            text += f"{e.id}\t{1 if value in e.predicted else 0}\ttrue\t{value}\n"
        for value in sorted(set(e.predicted), key=units):
            text += f"{e.id}\t{1 if value in e.truth else 0}\tpred\t{value}\n"
    return text


def pr_file(scores: Mapping[str, tuple[float, float]]) -> str:
    rows = [f"{name}\t{java(p)}\t{java(r)}\n" for name, (p, r) in scores.items()]
    return "Metric\tPrecision\tRecall\n" + "".join(rows)


def console(scores: Mapping[str, tuple[float, float]], skipped: Sequence[str], output: str) -> str:
    text = "".join(f"No truth file named {name}. Skipping\n" for name in skipped)
    text += "\nMetric\tPrecision\tRecall\n"
    text += "".join(f"{name}\t{three(p)}\t{three(r)}\n" for name, (p, r) in scores.items())
    return f"{text}\nDetails written to {output}/details\n"


# Confidence


def scan(
    truth: Mapping[str, list[str]], scored: Sequence[tuple[str, str, float]], bins: int | None
) -> list[tuple[float, float, float]]:
    """Threshold, precision and recall as the threshold falls, each point counted from nothing."""
    has_truth = any(truth.values())
    if not scored:
        return [(0.0, math.nan, 0.0 if has_truth else math.nan)]
    ordered = sorted(scored, key=lambda item: -item[2])
    if not has_truth:
        return [(ordered[0][2], 0.0, math.nan)]
    if bins is None or len(ordered) <= bins:
        thresholds = sorted({c for _, _, c in ordered}, reverse=True)
    else:
        low, high = ordered[-1][2], ordered[0][2]
        thresholds = [low + k * (high - low) / bins for k in range(bins, 0, -1)]
    points = []
    for threshold in thresholds:
        taken: dict[str, list[str]] = {}
        for name, value, confidence in ordered:
            if confidence >= threshold:
                taken.setdefault(name, []).append(value)
        names = {*truth, *taken}
        found = [Example(n, truth.get(n, []), taken.get(n, [])) for n in names]
        points.append((threshold, *means(found, "reference")))
    return points


# Normal forms


def punctuation(text: str) -> str:
    marks = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~""" + "’“”→–—"
    return "".join(" " if c in marks else c for c in text)


def trim(text: str) -> str:
    while text and text[0] <= " ":
        text = text[1:]
    while text and text[-1] <= " ":
        text = text[:-1]
    return text


def collapse(text: str) -> str:
    return re.sub("[ \t\n\v\f\r]+", " ", text)


def venue(text: str) -> str:
    bare = unicodedata.normalize("NFD", trim(text.lower()))
    return collapse("".join(c for c in bare if not 0x300 <= ord(c) <= 0x36F))


def title(text: str) -> str:
    return venue(punctuation(text))


def split(text: str) -> list[str]:
    """At white space; a leading empty piece stays, trailing ones go."""
    pieces = re.split("[ \t\n\v\f\r]+", text)
    while pieces and not pieces[-1]:
        pieces.pop()
    return pieces or [""]


def author(text: str) -> tuple[str, list[str], str]:
    """First, middle and last names."""
    if "," in text:
        last, rest = text.split(",", 1)
        words = split(trim(punctuation(rest)))
        return words[0], words[1:], trim(punctuation(last))
    words = split(punctuation(text))
    if len(words) == 1:
        return "", [], words[0]
    return words[0], words[1:-1], words[-1]


def last_exact(text: str) -> str:
    return author(text)[2]


def last_normal(text: str) -> str:
    return title(author(text)[2])


def full_exact(text: str) -> str:
    first, middle, last = author(text)
    return collapse(" ".join(punctuation(part) for part in (first, *middle, last)))


FORMS = {
    "title": title,
    "venue": venue,
    "lastname": last_normal,
    "lastname-exact": last_exact,
    "fullname-exact": full_exact,
}


def normalised(data: bytes, form: str) -> str:
    """A label file with every value in a normal form; trailing empty values are lost."""
    text = ""
    for name, values in read(data.removeprefix(b"\xef\xbb\xbf"), old=True):
        text += "\t".join([name, *map(FORMS[form], values)]).rstrip("\t") + "\n"
    return text
