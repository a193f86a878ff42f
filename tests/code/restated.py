# SPDX-License-Identifier: Apache-2.0
"""The rules of the 18 data sets written down a second time, one short function for each sentence.

Nothing here is shared with the task `code` or with the peer of the benchmarks: no array, no nltk,
no table of data sets. From bytes of files to the printed text, or `RefusedError`.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable, Sequence

Beam = list[str]
Metrics = dict[str, float]
Scorer = Callable[[list[Beam], list[str]], Metrics]

BREAKS = "\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class RefusedError(Exception):
    """There is no score for this input."""


def lines_of(data: bytes) -> list[str]:
    """The lines of one file: breaks of every kind end a line, the last needs none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError("not UTF-8") from error
    found, line = [], ""
    for character in text.replace("\r\n", "\n").replace("\r", "\n"):
        if character in BREAKS:
            found.append(line)
            line = ""
        else:
            line += character
    return [*found, line] if line else found


def side_of(files: dict[str, bytes]) -> list[str]:
    """The lines of all files, in the order of their names by code point."""
    found = []
    for name in sorted(files):
        found += lines_of(files[name])
    return found


def ratio(a: float, b: float) -> float:
    return 0.0 if b == 0 else a / b


def prf(tp: int, fp: int, fn: int) -> tuple[float, float, float]:
    p = ratio(tp, tp + fp)
    r = ratio(tp, tp + fn)
    return p, r, 2 * ratio(p * r, p + r)


def only(beam: Beam) -> str:
    """The one candidate of a line that must not have more."""
    if len(beam) != 1:
        raise RefusedError("several candidates")
    return beam[0]


# Names


def code2seq_counts(beams: list[Beam], targets: list[str]) -> tuple[int, int, int]:
    tp = fp = fn = 0
    for beam, target in zip(beams, targets, strict=True):
        p = [t for t in only(beam).split(" ") if t != "<OOV>" and t != "<pad>"]
        g = target.split(" ")
        tp += len([t for t in p if t in g])
        fp += len([t for t in p if t not in g])
        fn += len([t for t in g if t not in p])
    return tp, fp, fn


def code2seq(beams: list[Beam], targets: list[str]) -> Metrics:
    p, r, f = prf(*code2seq_counts(beams, targets))
    return {"precision": p, "recall": r, "f1_score": f}


def convattn_counts(candidate: str, target: str) -> tuple[int, int, int]:
    g = [t.lower() for t in target.split(" ")]
    s = {t.lower() for t in candidate.split(" ")}
    return len(s & set(g)), len(s - set(g)), len([t for t in g if t not in s])


def convattn_choice(beam: Beam, target: str) -> str:
    """The first candidate with the highest F1."""
    best, best_f1 = beam[0], -1.0
    for candidate in beam:
        f1 = prf(*convattn_counts(candidate, target))[2]
        if f1 > best_f1:
            best, best_f1 = candidate, f1
    return best


def convattn(beams: list[Beam], targets: list[str]) -> Metrics:
    sums = [0.0, 0.0, 0.0, 0.0]
    for beam, target in zip(beams, targets, strict=True):
        chosen = convattn_choice(beam, target)
        each = (*prf(*convattn_counts(chosen, target)), float(chosen == target))
        for i in range(4):
            sums[i] += each[i]
    n = len(targets)
    keys = ("precision", "recall", "f1_score", "exact_match_percentage")
    return {key: ratio(total, n) for key, total in zip(keys, sums, strict=True)}


def convattn_pooled(beams: list[Beam], targets: list[str]) -> tuple[int, int, int]:
    tp = fp = fn = 0
    for beam, target in zip(beams, targets, strict=True):
        a, b, c = convattn_counts(convattn_choice(beam, target), target)
        tp, fp, fn = tp + a, fp + b, fn + c
    return tp, fp, fn


# BLEU


def ngrams(tokens: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def bleu(pairs: Sequence[tuple[list[str], list[str]]], order: int) -> float:
    """Corpus BLEU of one order, from hypotheses and references."""
    num, den = [0] * order, [0] * order
    for h, r in pairs:
        for n in range(1, order + 1):
            ours, theirs = ngrams(h, n), ngrams(r, n)
            num[n - 1] += sum(min(ours.count(x), theirs.count(x)) for x in set(ours))
            den[n - 1] += max(1, len(h) - n + 1)
    if num[0] == 0:
        return 0.0
    long_h = sum(len(h) for h, _ in pairs)
    long_r = sum(len(r) for _, r in pairs)
    penalty = 1.0 if long_h > long_r else math.exp(1 - long_r / long_h)
    logs = [
        1 / order * math.log(a / b if a else sys.float_info.min)
        for a, b in zip(num, den, strict=True)
    ]
    return penalty * math.exp(math.fsum(logs))


def funcom(beams: list[Beam], targets: list[str], top_n: int = 1) -> Metrics:
    best = [0.0, 0.0, 0.0, 0.0]
    for k in range(top_n):
        if any(len(beam) <= k for beam in beams):
            raise RefusedError("too few candidates")
        if not targets:
            raise RefusedError("no lines")
        pairs = [(b[k].split(" "), t.split(" ")) for b, t in zip(beams, targets, strict=True)]
        four = [100 * bleu(pairs, order) for order in (1, 2, 3, 4)]
        if four[3] > best[3]:
            best = four
    return {f"bleu_{i + 1}": best[i] for i in range(4)}


# Completions


def runs(candidate: str, target: str) -> tuple[float, int]:
    """Expected number of successive right tokens, and the longest run."""
    ours, theirs = candidate.split(" "), target.split(" ")
    total = max(len(ours), len(theirs))
    marks = "".join("x" if a == b else "." for a, b in zip(ours, theirs, strict=False))
    lengths = [len(run) for run in marks.split(".") if run]
    expected = 0.0
    for length in lengths:
        expected += (length / total) * (length + 1) / 2
    return expected, max(lengths, default=0)


def code_tokens(line: str) -> list[str]:
    spaced = ""
    for i, c in enumerate(line):
        if not (c.isascii() and (c.isalnum() or c == "_")):
            spaced += f" {c} "
        elif i and "A" <= c <= "Z" and "a" <= line[i - 1] <= "z":
            spaced += f" {c}"
        else:
            spaced += c
    return ["".join("`" if c in "\"'" else c for c in t) for t in spaced.split()]


def line_bleu(candidate: str, target: str) -> float:
    h, r = code_tokens(candidate), code_tokens(target)
    if not h:
        return 0.0 if r else 1.0
    return bleu([(h, r)], max(1, min(4, len(h), len(r))))


def retrieve_and_edit(beams: list[Beam], targets: list[str]) -> Metrics:
    expected = longest = scored = 0.0
    for beam, target in zip(beams, targets, strict=True):
        best = runs(beam[0], target)
        for candidate in beam[1:]:
            other = runs(candidate, target)
            if other[0] > best[0]:
                best = other
        expected, longest = expected + best[0], longest + best[1]
        scored += 100 * line_bleu(beam[0], target)
    n = len(targets)
    return {
        "average_expected_successive_tokens": ratio(expected, n),
        "average_max_successive_tokens": ratio(longest, n),
        "bleu": ratio(scored, n),
    }


# Bugs in one line


def great(beams: list[Beam], targets: list[str], start: str) -> Metrics:
    n = n_bug = same = joint = free = located = repaired = 0
    for beam, t in zip(beams, targets, strict=True):
        p = only(beam)
        n += 1
        same += p == t
        if t == "NO_BUG":
            free += p == "NO_BUG"
            continue
        if not t.startswith(start):
            raise RefusedError("neither NO_BUG nor a location")
        n_bug += 1
        joint += p == t
        located += p.split(" ")[0] == t.split(" ")[0]
        repaired += p.split(" ")[1:] == t.split(" ")[1:]
    return {
        "seq_acc": ratio(same, n),
        "loc_and_rep_acc": ratio(joint, n_bug),
        "bug_free_class_acc": ratio(free, n - n_bug),
        "loc_acc": ratio(located, n_bug),
        "rep_acc": ratio(repaired, n_bug),
    }


def hoppity(beams: list[Beam], targets: list[str]) -> Metrics:
    kinds = {"add_node": "add", "replace_val": "rep_val", "replace_type": "rep_type"}
    kinds["del_node"] = "del"
    seen, right = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0)
    for beam, target in zip(beams, targets, strict=True):
        kind = target.split(" ")[0]
        if kind in kinds:
            seen[kind] += 1
            right[kind] += target in beam
    found = {"total_acc": ratio(sum(right.values()), len(targets))}
    return found | {f"{kinds[k]}_acc": ratio(right[k], seen[k]) for k in kinds}


def manysstubs4j(beams: list[Beam], targets: list[str]) -> Metrics:
    right = sum(target in beam for beam, target in zip(beams, targets, strict=True))
    return {"class_acc": ratio(right, len(targets))}


# CuBERT: one line with all results


def classes(beams: list[Beam], targets: list[str], labels: Sequence[str]) -> str:
    right: dict[str, int] = {}
    seen: dict[str, int] = {}
    for beam, target in zip(beams, targets, strict=True):
        t = target.strip()
        if "CLASS_" not in t or t.replace("CLASS_", "", 1) not in labels:
            raise RefusedError("no such class")
        seen[t] = seen.get(t, 0) + 1
        right[t] = right.get(t, 0) + (only(beam).strip() == t)
    each = {t: right[t] / seen[t] for t in seen}
    total = 0.0
    for value in each.values():
        total += value
    return (
        f"_AllResults(total={len(targets)}, "
        f"accuracy={ratio(sum(right.values()), len(targets))!r}, "
        f"per_class_accuracies={each!r}, mean_per_class_accuracy={ratio(total, len(each))!r})\n"
    )


def location(text: str, pointed: bool) -> int | None:
    """The number at the start of a trimmed line, 1 for "no bug"; None if it cannot be read."""
    if pointed:
        found = re.match(r"POINTER\((\d+),", text)  # no digit: a syntax error here, a crash there
        return int(found[1]) if found else None
    if text.startswith("BUG_FREE"):
        return 1
    found = re.match(r"ERROR_LOCATION_(\d+)(?!\S)", text)
    number = int(found[1]) if found else None
    return None if number == 1 else number  # again a syntax error, where the original stops


def misuse_repair(
    beams: list[Beam], targets: list[str], pointed: bool, raw: tuple[int, int]
) -> str:
    n_bug = unreadable = both = true = localized = repaired = same = 0
    if (raw[0] == 0) != (raw[1] == 0):
        raise RefusedError("one raw total")
    for beam, target in zip(beams, targets, strict=True):
        p, g = only(beam).strip(), target.strip()
        at, wanted = location(p, pointed), location(g, pointed)
        if wanted is None:
            raise RefusedError("unreadable target")
        n_bug += wanted != 1
        if at is None:
            unreadable += 1
            continue
        same += p == g
        both += at != 1 and wanted != 1
        true += (at != 1) == (wanted != 1)
        localized += at != 1 and at == wanted
        repaired += at != 1 and p == g
    n = len(targets)
    fields: dict[str, object] = {
        "total": n,
        "total_buggy": n_bug,
        "true_positive": ratio(both, n_bug),
        "true": ratio(true, n),
        "localized": ratio(localized, n_bug),
        "localized_and_repaired": ratio(repaired, n_bug),
        "raw_total": raw[0] or None,
        "raw_total_buggy": raw[1] or None,
        "raw_true_positive": ratio(both, raw[1]) if raw[0] else None,
        "raw_true": ratio(true, raw[0]) if raw[0] else None,
        "raw_localized": ratio(localized, raw[1]) if raw[0] else None,
        "raw_localized_and_repaired": ratio(repaired, raw[1]) if raw[0] else None,
        "total_syntax_errors": unreadable,
        "total_localized_but_not_repaired": localized - repaired,
        "sequence_accuracy": ratio(same, n),
    }
    return f"_AllResults({', '.join(f'{k}={v!r}' for k, v in fields.items())})\n"


# Resampling, and what is printed


def resampled(
    score: Scorer, beams: list[Beam], targets: list[str], times: int, seed: int, levels: list[float]
) -> dict[str, tuple[list[float], list[float]]]:
    """Lower and upper bounds of each metric, a pair of lists."""
    if any(not 50 <= c < 100 for c in levels):
        raise RefusedError("no such level")
    source, n = random.Random(seed), len(targets)
    drawn: dict[str, list[float]] = {}
    for _ in range(times):
        places = [math.floor(source.random() * n) for _ in range(n)]
        found = score([beams[i] for i in places], [targets[i] for i in places])
        for key, value in found.items():
            drawn.setdefault(key, []).append(value)
    bounds = {}
    for key, values in drawn.items():
        values.sort()
        low = [values[math.floor(times * (100 - c) / 100)] for c in levels]
        high = [values[math.ceil(times * c / 100) - 1] for c in levels]
        bounds[key] = low, high
    return bounds


def printed_lines(
    score: Scorer,
    beams: list[Beam],
    targets: list[str],
    times: int,
    seed: int,
    levels: list[float],
) -> str:
    found = score(beams, targets)
    bounds = resampled(score, beams, targets, times, seed, levels) if times > 1 else {}
    text = f"total: {len(targets)}\n"
    for key, value in found.items():
        text += f"{key}: {value:.5f}\n"
        if bounds:
            for side, values in zip(("lower", "upper"), bounds[key], strict=True):
                text += f"{key}_{side}_ci: [{', '.join(f'{v:.5f}' for v in values)}]\n"
    return text


def summary(tp: int, fp: int, fn: int) -> str:
    p, r, f = prf(tp, fp, fn)
    return f"Precision: {p!r}, Recall: {r!r}, F1-score: {f!r}\n"


EXCEPTIONS = (
    *("AssertionError", "AttributeError", "DoesNotExist", "HTTPError", "IOError"),
    *("ImportError", "IndexError", "KeyError", "KeyboardInterrupt"),
    *("NameError", "NotImplementedError", "OSError", "ObjectDoesNotExist"),
    *("RuntimeError", "StopIteration", "SystemExit", "TypeError"),
    *("UnicodeDecodeError", "ValidationError", "ValueError"),
)  # fmt: skip
LABELS: dict[str, Sequence[str]] = {
    "cubert_exception_classification_dataset": EXCEPTIONS,
    "cubert_variable_misuse_classification_dataset": ["Correct", "Variable misuse"],
    "cubert_swapped_operand_classification_dataset": ["Correct", "Swapped operands"],
    "cubert_function_docstring_classification_dataset": ["Correct", "Incorrect"],
    "cubert_wrong_operator_classification_dataset": ["Correct", "Wrong binary operator"],
}
POINTED = {
    "cubert_variable_misuse_repair_dataset": True,
    "cubert_variable_misuse_repair_nocopy_dataset": True,
    "cubert_variable_misuse_repair_unpointed_dataset": False,
    "cubert_variable_misuse_repair_unpointed_nocopy_dataset": False,
}
ONE_CANDIDATE = (
    "code2seq_dataset",
    "great_var_misuse_dataset",
    "great_var_misuse_unpointed_dataset",
)


def output(
    dataset: str,
    predictions: dict[str, bytes],
    golds: dict[str, bytes],
    *,
    top_n: int = 1,
    raw: tuple[int, int] = (0, 0),
    times: int = 0,
    seed: int = 42,
    levels: Sequence[float] = (90, 95, 99),
) -> str:
    """What is printed for two sides of files, each a name and its bytes."""
    beams = [line.split("\t") for line in side_of(predictions)]
    targets = side_of(golds)
    if len(beams) != len(targets):
        raise RefusedError("unequal numbers of lines")
    if top_n != 1 and (dataset in ONE_CANDIDATE or dataset.startswith("cubert")):
        raise RefusedError("one rank only")
    if dataset in LABELS:
        return classes(beams, targets, LABELS[dataset])
    if dataset in POINTED:
        return misuse_repair(beams, targets, POINTED[dataset], raw)
    scorers: dict[str, Scorer] = {
        "code2seq_dataset": code2seq,
        "convattn_dataset": convattn,
        "ogb_code_dataset": convattn,
        "retrieve_and_edit_dataset": retrieve_and_edit,
        "funcom_dataset": lambda b, t: funcom(b, t, top_n),
        "great_var_misuse_dataset": lambda b, t: great(b, t, "POINTER("),
        "great_var_misuse_unpointed_dataset": lambda b, t: great(b, t, "ERROR_LOCATION_"),
        "hoppity_single_ast_diff_dataset": hoppity,
        "manysstubs4j_dataset": manysstubs4j,
    }
    text = printed_lines(scorers[dataset], beams, targets, times, seed, list(levels))
    if dataset == "code2seq_dataset":
        return summary(*code2seq_counts(beams, targets)) + text
    if dataset in ("convattn_dataset", "ogb_code_dataset"):
        return summary(*convattn_pooled(beams, targets)) + text
    return text


DATASETS = [
    "code2seq_dataset",
    "convattn_dataset",
    "ogb_code_dataset",
    "retrieve_and_edit_dataset",
    "funcom_dataset",
    "great_var_misuse_dataset",
    "great_var_misuse_unpointed_dataset",
    *LABELS,
    *POINTED,
    "hoppity_single_ast_diff_dataset",
    "manysstubs4j_dataset",
]
