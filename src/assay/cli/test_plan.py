# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from assay.aggregate.plan import Shares
from assay.cli import run
from assay.pipeline.evaluate import evaluate


@pytest.fixture(scope="module")
def pilots(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two runs on 40 examples in 10 documents; each gets 30 right, 20 of them in common."""
    folder = tmp_path_factory.mktemp("pilots")
    gold = [{"id": f"{i}", "gold": "yes it is", "document": f"d{i // 4}"} for i in range(40)]
    for name, right in (("first", range(30)), ("second", range(10, 40))):
        said = [
            {"id": f"{i}", "prediction": "yes it is" if i in right else "no it is"}
            for i in range(40)
        ]
        evaluate("text", said, gold, metrics=["exact", "token_f1"], system=name, save=folder / name)
    return [str(folder / "first"), str(folder / "second")]


CASES = [
    # name               arguments                                              lines of output
    ("examples needed",  ["--discordance", "0.2", "--difference", "0.04"],      ["977 examples find a difference of 0.04 with chance 0.8 (two-sided 0.05, from discordance 0.2)"]),
    ("what can be seen", ["--discordance", "0.2", "-n", "1000"],                ["1,000 examples find a difference of 0.0395 or more with chance 0.8 (two-sided 0.05, from discordance 0.2)"]),
    ("nothing",          ["--discordance", "0.2", "-n", "20"],                  ["20 examples find no difference with chance 0.8 (two-sided 0.05, from discordance 0.2)"]),
    ("other levels",     ["--discordance", "0.5", "--difference", "-0.3", "--alpha", "0.1", "--power", "0.5"], [f"{Shares(0.5, 0.1).needed(0.3, 0.5)} examples find a difference of -0.3 with chance 0.5 (two-sided 0.1, from discordance 0.5)"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "lines"), CASES)
def test_without_a_pilot(
    name: str, arguments: list[str], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *arguments]) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_with_both_it_says_the_chance(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--discordance", "0.2", "--difference", "0.04", "-n", "500"]) == 0
    first, needed, least = capsys.readouterr().out.splitlines()
    chance = Shares(0.2).chance(500, 0.04)
    assert first.startswith(f"500 examples find a difference of 0.04 with chance {chance:.2f} ")
    assert needed.startswith("977 examples ")
    assert least.startswith("500 examples find a difference of 0.05")


def test_more_systems_need_more_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--discordance", "0.2", "--difference", "0.04", "--systems", "4"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{Shares(0.2, 0.05 / 6).needed(0.04):,} examples ")
    assert "two-sided 0.05 over 6 pairs" in printed


def test_from_a_pilot(pilots: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *pilots]) == 0
    # Of 40 examples, ten are right in the first run alone and ten in the second: half.
    least = Shares(0.5).detectable(40)
    assert capsys.readouterr().out == (
        f"40 examples find a difference of {least:.3g} or more with chance 0.8 "
        "(two-sided 0.05, from exact of first and second)\n"
    )
    assert run(["plan", *pilots, "-m", "token_f1", "--difference", "0.1"]) == 0
    apart = capsys.readouterr().out
    assert "from token_f1 of first and second)" in apart
    assert (
        run(["plan", *pilots, "-m", "token_f1", "--difference", "0.1", "--cluster", "document"])
        == 0
    )
    whole = capsys.readouterr().out
    assert "from token_f1 of first and second by document)" in whole
    assert _examples(whole) > 2 * _examples(apart)


def _examples(line: str) -> int:
    return int(line.split()[0].replace(",", ""))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("nothing", [], "give two pilot runs, or --discordance"),
        ("no question", ["--discordance", "0.2"], "give --examples, --difference, or both"),
        ("one run", ["only"], "a pilot is two runs, not 1"),
        ("both sources", ["a", "b", "--discordance", "0.2"], "not both"),
        ("one system", ["--systems", "1"], "--systems 1 must be at least 2"),
        ("out of range", ["--discordance", "2", "-n", "9"], "discordance 2 must be"),
        ("too much", ["--discordance", "0.1", "--difference", "0.2"], "needs a discordance of"),
        ("no such alpha", ["--discordance", "0.1", "-n", "9", "--alpha", "0"], "must lie between"),
        ("no examples", ["--discordance", "0.1", "-n", "0"], "at least two examples"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    name: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_pilots_that_do_not_help(
    pilots: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", pilots[0], pilots[0]]) == 2
    assert "do not differ by exact" in capsys.readouterr().err
    assert run(["plan", *pilots, "-m", "exakt"]) == 2
    assert "exact" in capsys.readouterr().err
    assert run(["plan", pilots[0], str(tmp_path / "none")]) == 2
