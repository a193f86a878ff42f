# SPDX-License-Identifier: Apache-2.0
"""Shell commands: how fast they are understood, and how fast characters are compared."""

from __future__ import annotations

import random

from benchmarks.harness import Case, Work

N = 20_000
N_BLEU = 3_000


def made_up(n: int) -> list[str]:
    """Commands of the kind that people ask for, no two the same."""
    rng = random.Random(7)
    shapes = (
        "find {d} -type f -name '*.{e}' -mtime +{n} -exec grep -l {w} {{}} \\;",
        'find {d} -name "{w}*" -print0 | xargs -0 -n {n} ls -ltr | head -n {n}',
        "sudo tar czf {w}{n}.tgz -C {d} {w} && rm -rf {d}/{w}",
        "cat {w}{n}.txt | cut -d, -f{n} | sort -k {n} -t ' ' | uniq -c",
        "rsync -avz --exclude='*.{e}' {d}/ {w}@host{n}:{d}",
        "ls -la $(dirname `which {w}`)/{w}{n} > {w}.log 2>&1",
        'for f in {d}/*.{e}; do mv "$f" "$f.{n}"; done',
        "awk -F: '$3 > {n} {{print $1}}' {d}/{w} | sed -e 's/{w}/x/g'",
    )
    words, endings = ("seed", "garden", "plant", "weed", "orchard"), ("py", "txt", "log", "c")
    return [
        rng.choice(shapes).format(
            d=f"/srv/{rng.choice(words)}{i}",
            e=rng.choice(endings),
            n=rng.randrange(1, 99),
            w=rng.choice(words),
        )
        for i in range(n)
    ]


def templates() -> Work:
    """Template and match form of every command."""
    from assay.tasks.commands.forms import form

    commands = made_up(N)

    def work() -> int:
        form.cache_clear()
        return sum(form(text).parsed for text in commands)

    return work


def bare_parser() -> Work:
    """The syntax trees alone, without looking at them: what any tool on this parser pays."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_bash.language()))
    commands = made_up(N)

    def work() -> int:
        return sum(not parser.parse(text.encode()).root_node.has_error for text in commands)

    return work


def pairs() -> list[tuple[list[str], list[str]]]:
    """Three predictions against two gold commands each."""
    held = made_up(5 * N_BLEU)
    return [(held[i : i + 3], held[i + 3 : i + 5]) for i in range(0, len(held), 5)]


def character_bleu() -> Work:
    """The metric on all pairs."""
    from assay.core.batch import Batch
    from assay.core.metric import Totals
    from assay.tasks.commands.char_bleu import CharacterBleu, _most

    every = pairs()
    metric = CharacterBleu()
    batch = Batch([p for p, _ in every], [g for _, g in every])

    def work() -> list[float]:
        _most.cache_clear()
        rows = metric.measure(batch)
        scores = metric.finalise(Totals(metric.columns, rows.sum(axis=0)))
        return [float(value) for value in scores.values()]

    return work


def nltk_bleu() -> Work:
    """The same by nltk, prediction by prediction."""
    import warnings

    from nltk.translate.bleu_score import sentence_bleu

    every = pairs()

    def work() -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = [[sentence_bleu(gold, text) for text in texts] for texts, gold in every]
        n = len(values)
        return [sum(v[0] for v in values) / n, sum(max(v) for v in values) / n]

    return work


CASES = [
    Case(
        f"templates of {N:,} commands (0.1x is ten times the bare parser)",
        "tree-sitter-bash alone",
        templates,
        bare_parser,
        must=0.1,
        memory=140,
    ),
    Case(
        f"character BLEU, {3 * N_BLEU:,} commands against 2",
        "nltk sentence_bleu",
        character_bleu,
        nltk_bleu,
        must=2,
        memory=120,
        peer_rounds=1,
    ),
]
