# SPDX-License-Identifier: Apache-2.0
"""Random files, verdicts and answers: the command does what the rules, written down again, say."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run
from assay.tasks.commands.forms import form
from assay.tasks.commands.keys import description_key
from tests.commands import restated

Rng = random.Random

PIECES = (
    *("Find", "find", "all", "the", "files", "'a b'", "'a'", '"x y"', '"', "'", "(", ")", "(case", "To", "to"),
    *("|o", ",", ";", ":", ".", "a.txt", "e.g.", "i.e,", "s.t", "twenty", "twenty-four", "one", "two", "Thirty"),
    *("can't", "it's", "server`s", "``", "''", "`'", "`", "u+x", "g=rw,o=r", "u=rwX", "go+t,", "ugo=s|", "u|the"),
    *(" file/directory ", ' "normal/regular" ', " names/paths ", " pattern' ", "'p'", "pattern", "${HOME}", "100M"),
    *("$x", "\u201cq\u201d", "\u2018z\u2019", "é", "É", "Straße", "-", "--", "a-b", "-a", "'re", "'d", "'t", "u|"),
    *("running", "Skies", "news", "I", "don't", "have", "x'y'", "\t", "\u00a0", "(x)", "\\", "/tmp/X"),
)  # fmt: skip


def description(rng: Rng) -> str:
    ends = ("", "", " ", " ", " ", ",")
    return "".join(rng.choice(PIECES) + rng.choice(ends) for _ in range(rng.randint(0, 7)))


def has_half_a_quote(text: str) -> bool:
    """A quote on one side of a pair such as file/directory: the rules leave open what it becomes."""
    straight = text.translate(str.maketrans("\u201c\u201d`", '"""')).replace("''", '"')
    return any(pair in straight for pair, _ in restated.PAIRS) and '"' in straight


def test_keys() -> None:
    rng = random.Random(1)
    texts = [
        text for text in (description(rng) for _ in range(4_000)) if not has_half_a_quote(text)
    ]
    assert len(texts) > 3_000
    for text in texts:
        assert description_key(text) == restated.key(text), text


DESCRIPTIONS = (
    *("List all files", "lists files (of all)", "Show the files", "count words in 'a b'", "Remove f.txt"),
    *("count words", "Delete \u201cx\u201d", "to Delete x", "print twenty lines", "print 20 line", "", "Say no"),
)  # fmt: skip
FILES = ("a.txt", "b.txt", "$f", "'x'", '"$y"')
STRANGE = ("(ls", "( ls ) x", "frob -x a", "(rm", "frob", "( echo ) y", "(")
ANSWERS = ("y", "y", "y", "y", "Y", " y", "n", "", "wrong flags", 'not "exact"', "yy", "y ")


def command(rng: Rng) -> str:
    if rng.random() < 0.12:
        return rng.choice(STRANGE)
    parts = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        name = rng.choice(("ls", "ls", "cat", "wc", "rm"))
        flags = rng.choice(("", "", "-a", "-l", "-la", "-al", "-l -a"))
        parts.append(f"{name} {flags} {rng.choice(FILES[: rng.randint(1, 5)])}")
    text = rng.choice((" | ", " | ", " ; ", " && ")).join(parts)
    odd = rng.random()
    if odd < 0.1:
        text = f"sudo {text}"
    elif odd < 0.2:
        text = f"{text} {rng.choice(';&')}"
    elif odd < 0.25:
        text = text.replace("rm ", "/bin/rm ")
    return text if rng.random() < 0.3 else " ".join(text.split())


def test_forms() -> None:
    rng = random.Random(2)
    for _ in range(1_500):
        text = command(rng)
        for old in (False, True):
            found, wanted = form(text, "nl2bash" if old else "strict"), restated.form(text, old)
            assert (found.template, found.command) == (wanted.template, wanted.command), text


class Case:
    """Random files in a folder of their own, and what to do with them."""

    def __init__(self, rng: Rng, folder: Path) -> None:
        self.rng = rng
        self.folder = folder
        self.old = rng.random() < 0.5
        self.top = rng.choice((3, 3, 3, 1, 2, 5))
        self.size = rng.choice((0, -1, 1, 3, 100))
        self.seed = rng.choice((100, 100, 0, 7))
        self.gold = self._gold()
        self.given = self._predictions()
        self.sheets = self._sheets()

    def _gold(self) -> list[restated.Group]:
        rng = self.rng
        texts = rng.sample(DESCRIPTIONS, rng.randint(1, 8))
        if rng.random() < 0.3:  # records that are groups already, some with keys of their own
            found, records = [], []
            for i, text in enumerate(texts):
                record = {"id": f"e{i}", "nl": text, "references": [command(rng)]}
                own = restated.key(text)
                keys: tuple[str, ...] = (own,)
                if rng.random() < 0.3:
                    record["key"] = rng.choice(("mine", restated.key(rng.choice(DESCRIPTIONS))))
                    keys = tuple(dict.fromkeys((str(record["key"]), own)))
                records.append(record)
                found.append(restated.Group(text.strip(), keys, list(record["references"])))
            self._write("gold.jsonl", "".join(json.dumps(r) + "\n" for r in records))
            self.given_gold = ["gold.jsonl"]
            return found
        pairs = [(rng.choice(texts), command(rng)) for _ in range(rng.randint(1, 12))]
        if rng.random() < 0.5:
            self._write("x.nl.filtered", "".join(f" {nl} \n" for nl, _ in pairs))
            self._write("x.cm.filtered", "".join(f"{cm}\n" for _, cm in pairs))
            self.given_gold = ["x.nl.filtered"]
        else:
            rows = (json.dumps({"nl": nl, "command": cm}) + "\n" for nl, cm in pairs)
            self._write("gold.jsonl", "".join(rows))
            self.given_gold = ["gold.jsonl"]
        return restated.groups(pairs)

    def _predictions(self) -> list[list[str]]:
        rng = self.rng
        lines = []
        for group in self.gold:
            held = [
                rng.choice((command(rng), command(rng), rng.choice(group.references)))
                for _ in range(rng.choice((0, 1, 2, 3, 3, 3, 4)))
            ]
            lines.append("|||".join(held) + rng.choice(("|||", "|||", "", " ")))
        text = "\n".join(lines) + ("\n" if rng.random() < 0.8 or not lines[-1] else "")
        self._write("p.txt", text)
        return restated.predictions(text, self.top, self.old)

    def _sheets(self) -> dict[str, str]:
        rng = self.rng
        if rng.random() < 0.2:
            return {}
        found = {}
        said = [(g, t) for g, those in zip(self.gold, self.given, strict=True) for t in those]
        for name in rng.sample(
            ("manual.evaluations.x", "b.evaluations.csv", "Z.evaluations", "c.evaluations.base",
             "manual.evaluations.author", "notes.csv"), rng.randint(1, 4)
        ):  # fmt: skip
            has_template = rng.random() < 0.7 or name.endswith("author")
            header = [
                "description",
                "prediction",
                "template",
                "correct template",
                "correct command",
            ]
            extra = ["by"] if rng.random() < 0.3 and not name.endswith("author") else []
            rows, before = [[*header, *extra]], ""
            for _ in range(rng.randint(0, 8)):
                group, text = rng.choice(said) if said else (self.gold[0], "ls")
                nl = rng.choice((group.description, rng.choice(DESCRIPTIONS)))
                shown = "" if nl == before and rng.random() < 0.7 else nl
                before = nl or before
                cells = [rng.choice((*ANSWERS, "")), rng.choice((*ANSWERS, ""))]
                of = rng.choice((text, text, text, rng.choice(said)[1] if said else text))
                template = restated.form(of, self.old).stored
                rows.append([shown, text, template, *cells, *(["z"] * len(extra))])
            if not has_template:
                rows = [[*row[:2], *row[3:]] for row in rows]
            found[name] = "".join(
                ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows
            )
        for name, text in found.items():
            self._write(f"j/{name}", text)
        return found

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    def arguments(self, *more: str) -> list[str]:
        found = ["commands", "score", "-p", "p.txt", "--top-k", str(self.top), "--ci", "0"]
        for file in self.given_gold:
            found += ["--gold", file]
        found += ["--num_examples", str(self.size), "--seed", str(self.seed)]
        if self.old:
            found += ["--compat", "nl2bash"]
        return [*found, *more]

    def tables(self) -> restated.Tables:
        return restated.judgements(self.sheets, self.old)

    def head(self, tables: restated.Tables) -> str:
        """The lines before any question."""
        lines = [f"{len(self.gold)} predictions loaded from p.txt"]
        lines += [f"reading cached evaluations from j/{name}" for name in tables.read]
        lines.append(f"{len(tables.template)} structure evaluation results loaded")
        lines.append(f"{len(tables.command)} command evaluation results loaded")
        return "".join(f"{line}\n" for line in lines)


def fresh(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = folder / name
    own.mkdir()
    monkeypatch.chdir(own)
    return own


@pytest.mark.parametrize("block", range(4))
def test_scores_bounds_and_what_is_unjudged(
    block: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number in range(30):
        case = Case(
            random.Random(f"scores {block} {number}"),
            fresh(tmp_path, str(number), monkeypatch),
        )
        more = ["--judgements", "j"] if case.sheets else []
        tables = case.tables()
        chosen = restated.sample(len(case.gold), case.size, case.seed)
        judging = restated.Judging(case.old)
        wanted = judging.accuracies(chosen, case.gold, case.given, tables)
        assert run(case.arguments(*more, "--json")) == 0, capsys.readouterr().err
        document = json.loads(capsys.readouterr().out)
        facts: dict[str, Any] = document["extra"]["judging"]
        for what in ("command", "template"):
            for at, k in ((0, 1), (1, case.top)):
                name = f"top{k}_{what}_accuracy"
                value = wanted[what][0 if case.top == 1 else at]
                most = wanted[f"<{what}"][0 if case.top == 1 else at]
                assert document["scores"][name] == pytest.approx(value, abs=1e-12), (number, name)
                assert facts["bounds"][name] == pytest.approx([value, most], abs=1e-12)
        unjudged = {**judging.unjudged, "predictions": sum(judging.unjudged.values())}
        assert facts["unjudged"] == unjudged, number
        assert run(case.arguments(*more)) == 0
        shown = capsys.readouterr().out
        said = case.head(tables) + restated.printed(wanted, len(chosen), case.top, False)
        assert shown == said if case.old else shown.startswith(said + "\n"), number


@pytest.mark.parametrize("block", range(2))
def test_automatic_accuracies(
    block: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number in range(20):
        case = Case(
            random.Random(f"automatic {block} {number}"),
            fresh(tmp_path, str(number), monkeypatch),
        )
        more = ["--judgements", "j"] if case.sheets else []
        tables = case.tables()
        everything = list(range(len(case.gold)))
        judging = restated.Judging(case.old, automatic=True)
        wanted = judging.accuracies(everything, case.gold, case.given, tables)
        assert run(case.arguments(*more, "--eval")) == 0
        shown = capsys.readouterr().out
        lines = shown.removeprefix(case.head(tables)).partition("\n\n")[0].splitlines()
        # The old program goes by its last group.
        top = 1 if case.old and len(case.given[-1]) < 2 else case.top
        said = restated.printed(wanted, len(everything), top, True).splitlines()
        assert [line for line in lines if "examples" in line or "Acc" in line] == said, number
        scores = restated.template_scores(case.gold, case.given, case.old)
        for k, score in ((1, scores[0]), (top, scores[min(top - 1, 1)])):
            assert f"Average top {k} Template Match Score = {score:.3f}" in lines, number


@pytest.mark.parametrize("block", range(4))
def test_the_dialogue(
    block: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    n_ended = 0
    for number in range(25):
        rng = random.Random(f"dialogue {block} {number}")
        case = Case(rng, fresh(tmp_path, str(number), monkeypatch))
        tables = case.tables()
        chosen = restated.sample(len(case.gold), case.size, case.seed)
        answers = [rng.choice(ANSWERS) for _ in range(rng.choice((60, 60, 60, 3)))]
        path = "j/manual.evaluations.author"
        judging = restated.Judging(case.old, answers=list(answers), path=path)
        head = case.head(tables)
        try:
            wanted = judging.accuracies(chosen, case.gold, case.given, tables)
            said, code = judging.out + restated.printed(wanted, len(chosen), case.top, False), 0
        except EOFError:
            said, code = judging.out + ("" if case.old else "\n"), 2
            n_ended += 1
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{a}\n" for a in answers)))
        more = ["--judgements", "j", "--manual_eval", "--write", "csv"]
        assert run(case.arguments(*more)) == code
        shown = capsys.readouterr()
        if case.old or code:
            assert shown.out == head + said, number
        else:
            assert shown.out.startswith(head + said + "\n"), number
        before = case.sheets.get("manual.evaluations.author")
        header = "description,prediction,template,correct template,correct command\n"
        written = Path(path).read_bytes().decode() if Path(path).exists() else header
        assert written == (before or header) + judging.rows, number
    assert n_ended > 0


def test_score_of_the_challenge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(3)
    gold, given, wanted = [], [], []
    for i in range(300):
        references = [command(rng) for _ in range(rng.choice((1, 1, 2)))]
        held = [
            (rng.choice((command(rng), references[0], "")), rng.choice((1.0, 0.5, 0.0, 0.9)))
            for _ in range(rng.randint(0, 6))
        ]
        gold.append({"id": i, "nl": "x", "references": references})
        listed = [{"command": text, "confidence": sure} for text, sure in held]
        given.append({"id": i, "predictions": listed})
        held = [(text, sure) for text, sure in held if text]
        wanted.append(restated.nlc2cmd(references, held))
    for name, records in (("g", gold), ("p", given)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    each = tmp_path / "each.jsonl"
    files = ["-p", str(tmp_path / "p.jsonl"), "-g", str(tmp_path / "g.jsonl")]
    more = ["--num_examples", "0", "-m", "nlc2cmd", "--per-example", str(each), "--json"]
    assert run(["commands", "score", *files, *more]) == 0
    mean = json.loads(capsys.readouterr().out)["scores"]["nlc2cmd"]
    assert mean == pytest.approx(sum(wanted) / len(wanted), abs=1e-12)
    found = [json.loads(line)["scores"]["nlc2cmd"] for line in each.read_text().splitlines()]
    assert found == pytest.approx(wanted, abs=1e-12)
