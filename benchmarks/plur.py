# SPDX-License-Identifier: Apache-2.0
"""The scoring rules of the PLUR evaluator restated in plain Python, line by line, with nltk's BLEU.

Nothing here is made to be fast or slow: it is what one writes down from the rules. Benchmarks use
it as the peer, and tests hold the task `code` against it on random lines.
"""

from __future__ import annotations

import glob
import math
import random
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Beam = list[str]
Scores = dict[str, float]


def read_lines(pattern: str) -> list[str]:
    """The lines of all files that match, in order of their names."""
    found: list[str] = []
    for path in sorted(glob.glob(pattern)):
        found += Path(path).read_text(encoding="utf-8").splitlines()
    return found


def read_pairs(predictions: str, targets: str) -> tuple[list[Beam], list[str]]:
    """Candidates and targets, one of each per line."""
    beams = [line.split("\t") for line in read_lines(predictions)]
    wanted = read_lines(targets)
    if len(beams) != len(wanted):
        raise ValueError("unequal numbers of lines")
    return beams, wanted


def ratio(a: float, b: float) -> float:
    """`a / b`, and 0 if there is nothing to divide by."""
    return a / b if b else 0.0


def prf(tp: int, fp: int, fn: int) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    p, r = ratio(tp, tp + fp), ratio(tp, tp + fn)
    return p, r, 2 * ratio(p * r, p + r)


def code2seq_counts(beam: Beam, target: str) -> tuple[int, int, int]:
    """Tokens that are right, wrong and missing in one prediction."""
    if len(beam) != 1:
        raise ValueError("one prediction per target")
    predicted = [t for t in beam[0].split(" ") if t not in ("<OOV>", "<pad>")]
    wanted = target.split(" ")
    tp = fp = fn = 0
    for token in predicted:
        if token in wanted:
            tp += 1
        else:
            fp += 1
    for token in wanted:
        if token not in predicted:
            fn += 1
    return tp, fp, fn


def code2seq(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Token counts pooled over all targets."""
    each = [code2seq_counts(beam, target) for beam, target in zip(beams, targets, strict=True)]
    p, r, f = prf(sum(c[0] for c in each), sum(c[1] for c in each), sum(c[2] for c in each))
    return {"precision": p, "recall": r, "f1_score": f}


def convattn(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Scores of the best candidate, averaged over targets."""
    sums = [0.0, 0.0, 0.0, 0.0]
    for beam, target in zip(beams, targets, strict=True):
        wanted = [t.lower() for t in target.split(" ")]
        best: tuple[float, float, float, float] | None = None
        for candidate in beam:
            predicted = {t.lower() for t in candidate.split(" ")}
            tp = sum(t in wanted for t in predicted)
            fn = sum(t not in predicted for t in wanted)
            p, r, f = prf(tp, len(predicted) - tp, fn)
            if best is None or f > best[2]:
                best = p, r, f, float(candidate == target)
        assert best is not None
        sums = [a + b for a, b in zip(sums, best, strict=True)]
    names = ("precision", "recall", "f1_score", "exact_match_percentage")
    return {name: ratio(s, len(targets)) for name, s in zip(names, sums, strict=True)}


def successive(candidate: str, target: str) -> tuple[float, int]:
    """Expected and longest run of right tokens."""
    ours, theirs = candidate.split(" "), target.split(" ")
    total = max(len(ours), len(theirs))
    expected, longest, run = 0.0, 0, 0
    for i in range(total + 1):
        if i < min(len(ours), len(theirs)) and ours[i] == theirs[i]:
            run += 1
        elif run:
            expected += (run / total) * (run + 1) / 2
            longest = max(longest, run)
            run = 0
    return expected, longest


def code_tokens(line: str) -> list[str]:
    """The tokens that completions are compared by."""
    line = re.sub(r"([^A-Za-z0-9_])", r" \1 ", line)
    line = re.sub(r"([a-z])([A-Z])", r"\1 \2", line)
    return [t.replace('"', "`").replace("'", "`") for t in line.split()]


def line_bleu(candidate: str, target: str) -> float:
    """BLEU of one line by nltk."""
    from nltk.translate.bleu_score import sentence_bleu

    ours, theirs = code_tokens(candidate), code_tokens(target)
    if not ours:
        return float(not theirs)
    order = max(1, min(4, len(ours), len(theirs)))
    return float(sentence_bleu([theirs], ours, weights=[1 / order] * order))


def retrieve_and_edit(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Runs of right tokens of the best candidate, BLEU of the first."""
    expected = longest = bleu = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for beam, target in zip(beams, targets, strict=True):
            best = max((successive(c, target) for c in beam), key=lambda found: found[0])
            expected, longest = expected + best[0], longest + best[1]
            bleu += line_bleu(beam[0], target)
    n = len(targets)
    return {
        "average_expected_successive_tokens": ratio(expected, n),
        "average_max_successive_tokens": ratio(longest, n),
        "bleu": 100 * ratio(bleu, n),
    }


def funcom(beams: Sequence[Beam], targets: Sequence[str], top_n: int = 1) -> Scores:
    """Corpus BLEU of four orders, of the best rank, one call of nltk for each order."""
    from nltk.translate.bleu_score import corpus_bleu

    best = (0.0, 0.0, 0.0, 0.0)
    references = [[target.split(" ")] for target in targets]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rank in range(top_n):
            ours = [beam[rank].split(" ") for beam in beams]
            one, two, three, four = (
                100 * corpus_bleu(references, ours, weights=(1 / n,) * n) for n in range(1, 5)
            )
            if four > best[3]:
                best = (one, two, three, four)
    return {f"bleu_{n}": value for n, value in enumerate(best, start=1)}


def funcom_in_one_call(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """The same by a single call of nltk, which counts n-grams once."""
    from nltk.translate.bleu_score import corpus_bleu

    references = [[target.split(" ")] for target in targets]
    ours = [beam[0].split(" ") for beam in beams]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = corpus_bleu(references, ours, weights=[(1 / n,) * n for n in range(1, 5)])
    return {f"bleu_{n}": 100 * value for n, value in enumerate(found, start=1)}


def great(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Whole lines, locations and repairs."""
    pairs = [(beam[0], target) for beam, target in zip(beams, targets, strict=True)]
    buggy = [(p, t) for p, t in pairs if t != "NO_BUG"]
    free = [(p, t) for p, t in pairs if t == "NO_BUG"]
    return {
        "seq_acc": ratio(sum(p == t for p, t in pairs), len(pairs)),
        "loc_and_rep_acc": ratio(sum(p == t for p, t in buggy), len(buggy)),
        "bug_free_class_acc": ratio(sum(p == t for p, t in free), len(free)),
        "loc_acc": ratio(sum(p.split(" ")[0] == t.split(" ")[0] for p, t in buggy), len(buggy)),
        "rep_acc": ratio(sum(p.split(" ")[1:] == t.split(" ")[1:] for p, t in buggy), len(buggy)),
    }


def classes(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Accuracy, and its mean over the classes."""
    seen: dict[str, list[bool]] = {}
    for beam, target in zip(beams, targets, strict=True):
        seen.setdefault(target.strip(), []).append(beam[0].strip() == target.strip())
    right = sum(sum(answers) for answers in seen.values())
    shares = [sum(answers) / len(answers) for answers in seen.values()]
    return {
        "accuracy": ratio(right, len(targets)),
        "mean_per_class_accuracy": ratio(sum(shares), len(shares)),
    }


def place(text: str, pointed: bool) -> int | None:
    """The location of a bug, 1 for none; None if it cannot be read."""
    if pointed:
        found = re.match(r"POINTER\((\d+),", text)
        return int(found[1]) if found else None
    if text.startswith("BUG_FREE"):
        return 1
    found = re.match(r"ERROR_LOCATION_(\d+)(\s|$)", text)
    number = int(found[1]) if found else None
    return None if number == 1 else number


def misuse_repair(beams: Sequence[Beam], targets: Sequence[str], pointed: bool) -> Scores:
    """Bugs seen, localised and repaired."""
    counts = dict.fromkeys(("buggy", "both", "true", "localized", "repaired", "same", "bad"), 0)
    for beam, target in zip(beams, targets, strict=True):
        ours, theirs = beam[0].strip(), target.strip()
        said, wanted = place(ours, pointed), place(theirs, pointed)
        counts["buggy"] += wanted != 1
        if said is None:
            counts["bad"] += 1
            continue
        counts["both"] += wanted != 1 and said != 1
        counts["true"] += (wanted != 1) == (said != 1)
        counts["localized"] += said != 1 and said == wanted
        counts["repaired"] += said != 1 and ours == theirs
        counts["same"] += ours == theirs
    n, buggy = len(targets), counts["buggy"]
    return {
        "total_buggy": buggy,
        "true_positive": ratio(counts["both"], buggy),
        "true": ratio(counts["true"], n),
        "localized": ratio(counts["localized"], buggy),
        "localized_and_repaired": ratio(counts["repaired"], buggy),
        "total_syntax_errors": counts["bad"],
        "total_localized_but_not_repaired": counts["localized"] - counts["repaired"],
        "sequence_accuracy": ratio(counts["same"], n),
    }


def hoppity(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Edits found among the candidates, by kind."""
    names = {"add_node": "add", "replace_val": "rep_val", "replace_type": "rep_type"}
    names["del_node"] = "del"
    right, seen = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for beam, target in zip(beams, targets, strict=True):
        kind = target.split(" ")[0]
        if kind in names:
            seen[kind] += 1
            right[kind] += target in beam
    found = {"total_acc": ratio(sum(right.values()), len(targets))}
    return {**found, **{f"{names[k]}_acc": ratio(right[k], seen[k]) for k in names}}


def manysstubs4j(beams: Sequence[Beam], targets: Sequence[str]) -> Scores:
    """Classes found among the candidates."""
    hits = sum(target in beam for beam, target in zip(beams, targets, strict=True))
    return {"class_acc": ratio(hits, len(targets))}


def resampled(
    score: Callable[[Sequence[Beam], Sequence[str]], Scores],
    beams: Sequence[Beam],
    targets: Sequence[str],
    resamples: int,
    seed: int = 42,
    levels: Sequence[float] = (90, 95, 99),
) -> dict[str, Any]:
    """Bounds of every score, each resample scored from its texts."""
    generator = random.Random(seed)
    pairs = list(zip(beams, targets, strict=True))
    found: dict[str, list[float]] = {}
    for _ in range(resamples):
        drawn = generator.choices(pairs, k=len(pairs))
        for name, value in score([b for b, _ in drawn], [t for _, t in drawn]).items():
            found.setdefault(name, []).append(value)
    ordered = {name: sorted(values) for name, values in found.items()}
    low = [math.floor(resamples * (100 - level) / 100) for level in levels]
    high = [math.ceil(resamples * level / 100) - 1 for level in levels]
    return {
        "lower": {name: [values[i] for i in low] for name, values in ordered.items()},
        "upper": {name: [values[i] for i in high] for name, values in ordered.items()},
    }
