# SPDX-License-Identifier: Apache-2.0
"""Templates and match forms: what a command becomes, when two are equal, and that none is run."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.tasks.commands.forms import Mode, form
from assay.tasks.commands.parts import structure_tokens, utilities_used
from assay.tasks.commands.table import utilities, utility
from assay.tasks.commands.verdicts import matched

TEMPLATES = [
    # command                                        template
    ("ls -la /tmp", "ls -l -a File"),
    ("$(cat x) | sort", "$( cat File ) | sort"),
    ('"$(which ls)"', "$( which Regex )"),
    ("./run-$(id -u).sh", "./run-$(id -u).sh"),
    (r"find . -exec ls \{\} \;", r"find Path -exec ls {} \;"),
    ("head -5 a.txt", "head - Quantity File"),
    ("head -n5 a.txt", "head -n Quantity File"),
    ("tail -n +2", "tail -n +Quantity"),
    ("cut -d, -f1-3", "cut -d Regex -f Number"),
    ("sort --key=2 -t: x", "sort --key Number -t Regex File"),
    ("grep -e a -e b f", "grep -e Regex -e Regex File"),
    ("grep a f g", "grep Regex File File"),
    ("egrep -i a f", "grep -E -i Regex File"),
    ("sed -i.bak 's/a/b/' f", "sed -i Regex Program File"),
    ("sed -i 's/a/b/' f", "sed -i Program File"),
    ("tar xzf a.tgz -C /tmp", "tar -x -z -f File -C Directory"),
    ("kill -9 12", "kill - Regex Regex"),
    ("kill -HUP 12", "kill - Regex Regex"),
    ("date +%s", "date +%s"),
    ("chmod +x f", "chmod +Permission File"),
    ("sudo -u root /usr/bin/find . -name x", "find Path -name Regex"),
    ("sudo -n -u postgres psql -l", "sudo -n -u Regex psql -l"),
    ("find -type f", "find Path -type f"),
    ("find . -size +2M -o -empty", "find Path -size +Size -or -empty"),
    (r"find . \( -name a \)", "find Path -name Regex"),
    (r"find . \( -name a -o -name b \) -print", r"find Path \( -name Regex -or -name Regex \) -print"),
    (r"find . -exec rm '{}' ';'", r"find Path -exec rm {} \;"),
    ("find . -exec rm {} +", "find Path -exec rm {} +"),
    ("find . -exec sh -c 'echo $1 | wc' \\;", r"find Path -exec sh -c echo Regex | wc \;"),
    ("find . | xargs rm -f", "find Path | xargs -I {} rm -f {}"),
    ("ls | xargs -I % mv % %.bak", "ls | xargs -I {} mv {} File"),
    ("cat `which java`", "cat $( which Regex )"),
    ("diff <(sort a) <(sort b)", "diff <( sort File ) <( sort File )"),
    ("x=$(date)", "date"),
    ("ls > out.txt 2>&1", "ls > Regex 2>& Regex"),
    ("cd a && ls; pwd", "cd Directory && ls ; pwd"),
    ("for f in *; do echo $f; done", "for Regex in Regex ; do echo Regex ; done"),
    ("if [ -f a ]; then ls; fi", "if [ -f Regex ] ; then ls ; fi"),
    ("(cd a; ls)", "( cd Directory ; ls )"),
    ("ssh host 'ls -l | wc -l'", "ssh Regex ls -l | wc -l"),
    ("nohup sleep 5 &", "nohup sleep Timespan"),
    ("frobnicate -xy z", "frobnicate -x -y Regex"),
    (r"tr \  \\n", "tr Regex Regex"),
    (r"grep [0-9]{2}\(x\){5} f", "grep Regex File"),
    ("grep x a/`uname -r`/b f", "grep Regex $( uname -r ) File"),
    ("for i in a/`ls`c; do rm $i; done", "for Regex in $( ls ) ; do rm File ; done"),
    ("wc –l “a b”", "wc -l File"),
    ("find . -newerac x ! -neweraB y", "find Path -newerac File ! -neweraB File"),
    ("date -v-1d +%F", "date -v -1d +%F"),
    ("mktemp --tmpdir x.XX", "mktemp --tmpdir Regex"),  # its value must be attached, that of -p not
    ("mktemp -p /tmp x.XX", "mktemp -p Directory Regex"),
    ("screen -dmS name top", "screen -d -m -S Regex Program"),
    ("stat -f /", "stat -f File"),
    ("perl -pi.bak -e 's/a/b/' f", "perl -p -i Regex -e Program File"),
    ("perl -ne 'print' f", "perl -n -e Program File"),
    ("gawk -i inplace '{print}' f", "gawk -i File Program File"),
    ("jq --arg x 1 .a f", "jq --arg Regex Regex Program File"),
    ("python3 -c 'x' y", "python3 -c Program Regex"),
    ("chroot /mnt stdbuf -oL ls -l", "chroot Directory stdbuf -o L ls -l"),
    ("echo 'unfinished", "echo 'unfinished"),
    ("ls   |", "ls |"),
    ("echo `date` `hostname -s`", "echo $( date ) $( hostname -s )"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "template"), TEMPLATES)
def test_template(command: str, template: str) -> None:
    assert form(command).template == template


OLD_TEMPLATES = [
    # What --compat nl2bash makes of commands that are nothing but a substitution.
    ("n=$(ls a | wc -l)", "ls File | wc -l"),
    ('n="in `date`: $(id)"', "date"),  # text around it and further substitutions are lost
    ("n1=$(mktemp)", "$( mktemp )"),  # not unwrapped where the name has a digit
    ('$(md5sum "$f")', "$( md5sum File )"),
    (r"find . -exec ls \{\} \;", r"find Path -exec ls File \;"),  # only {} and quoted ones are kept
    ("/bin/rm -f x | cat", "rm -f File | cat"),  # it knows six folders of six utilities
    ("/sbin/ifconfig eth0", "/sbin/ifconfig eth0"),
    ("n=$(perl -v)", "n=$(perl -v)"),  # cannot be parsed: a utility that it does not know
    ("n1=$(perl -v)", "n1=$(perl -v)"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "template"), OLD_TEMPLATES)
def test_template_of_the_old_program(command: str, template: str) -> None:
    assert form(command, "nl2bash").template == template


EQUAL = [
    # a, b                                          template, command equal: strict and loose
    ("ls -la", "ls -l -a", "TC", "TC"),
    ("ls -a -l", "ls -l -a", "--", "TC"),
    ("ls --all", "ls -a", "--", "TC"),
    ("head -n 5 f", "head --lines=5 f", "--", "TC"),
    ("tail -f x", "tail --follow x", "--", "TC"),
    ("tail -F x", "tail --retry x", "--", "--"),
    ("readlink -s x", "readlink -q x", "--", "TC"),
    ("ping -c 1 h", "ping h -c 1", "--", "TC"),
    ("find . -type f -name a", "find . -name a -type f", "--", "TC"),
    ("find . -name a -print -type f", "find . -type f -print -name a", "--", "--"),
    ("find . ! -name a -type f", "find . ! -type f -name a", "--", "--"),
    ("find . -name a -o -type f", "find . -type f -o -name a", "--", "--"),
    # Options of find that change what stands behind them, and nothing else.
    ("find . -daystart -mtime 1", "find . -mtime 1 -daystart", "--", "--"),
    ("find . -regex a -regextype sed", "find . -regextype sed -regex a", "--", "--"),
    ("find . -type f -regextype sed -regex a", "find . -regextype sed -regex a -type f", "--", "TC"),
    ("find . -mtime 1 -ctime 2", "find . -ctime 2 -mtime 1", "--", "TC"),
    ("find -H -L .", "find -L -H .", "--", "--"),
    ("find . -not -name a", "find . ! -name a", "--", "TC"),
    ("find . -name a -a -type f", "find . -type f -name a", "--", "TC"),
    ("find . -name a , -type f", "find . -name a -a -type f", "TC", "--"),
    # Of flags that overrule one another the last one counts.
    ("rm -i -f x", "rm -f -i x", "--", "--"),
    ("rm -r -i -f x", "rm -i -f -r x", "--", "TC"),
    ("ls -t -S", "ls -S -t", "--", "--"),
    ("ls -t -l -S", "ls -l -t -S", "--", "TC"),
    ("mv -n --force a b", "mv -f -n a b", "--", "--"),
    ("xargs -0 -d x rm", "xargs -d x --null rm", "--", "--"),
    ("du -k -m x", "du -m -k x", "--", "--"),
    ("du -s -k x", "du -k -s x", "--", "TC"),
    ("df -h -k", "df -k -h", "--", "--"),
    ("gzip -1 -9 x", "gzip --best --fast x", "--", "--"),
    ("head -q -v x", "head -v -q x", "--", "--"),
    ("readlink -e -m x", "readlink -m -e x", "--", "--"),
    ("rsync -a --no-o x y", "rsync --no-o -a x y", "--", "--"),
    ("rsync -a --no-o -v x y", "rsync -v -a --no-o x y", "--", "TC"),
    ("od -c -x f", "od -x -c f", "--", "--"),  # one line of output for each, in their order
    ("find . -mount -name a", "find . -name a -xdev", "--", "TC"),
    # What stands behind the first argument may be no flag of the utility.
    ("echo -n a", "echo a -n", "--", "--"),
    ("bash -x a", "bash a -x", "--", "--"),
    ("bash -x -e a", "bash -e -x a", "--", "TC"),
    ("rm -f -- x", "rm -- -f x", "--", "--"),
    ("test -f a -o -d b", "test -d a -o -f b", "--", "--"),
    ("frobnicate -a x -b y", "frobnicate -b x -a y", "--", "--"),
    # Nor does a folder to go to stand anywhere.
    ("tar -cf x -C a f -C b g", "tar -cf x -C a -C b f g", "--", "--"),
    ("tar -C d -xzf a", "tar xzf a -C d", "--", "TC"),
    ("head -5 f", "head -n 5 f", "--", "TC"),
    ("kill -9 1", "kill -s 9 1", "--", "TC"),
    ("rsync --include=a --exclude=b x y", "rsync --exclude=b --include=a x y", "--", "--"),
    ("ls x", "ls y", "T-", "T-"),
    ("ls 'x'", 'ls "x"', "T-", "T-"),
    ("find `pwd` -type f", 'find "$(pwd)" -type f', "TC", "TC"),
    ("mkdir $(date)/x", "mkdir $(date)/y", "T-", "T-"),
    ("ls >out", "ls > out", "TC", "TC"),
    ("(cd a; ls)", "(rm -rf b; x)", "--", "--"),
    ("for f in *; do  ls; done", "for f in *; do ls; done", "TC", "TC"),
    ("cat /etc/sudoers", "cat /etc/ers", "T-", "T-"),
    # Words behind a redirection belong to the command, and so do those behind a here-document's mark.
    ("find / 2>/dev/null -name a", "find / -name a 2> /dev/null", "TC", "TC"),
    ("> out ls -l", "ls -l > out", "TC", "TC"),
    ("ls | wc > out -l", "ls | wc -l > out", "TC", "TC"),
    ("ls 2>&- x", "ls x 2>&-", "TC", "TC"),
    ("{ ls; } > a b", "{ ls; } > a", "--", "--"),
    ("cat <<E -n\na\nE", "cat -n <<E\na\nE", "TC", "TC"),
    ("cat <<E\na\nE", "cat <<E\nb\nE", "T-", "T-"),
    ("cat <<E > x\na\nE", "cat <<E > y\na\nE", "T-", "T-"),
    ("cat <<E && ls\na\nE", "cat <<E || ls\na\nE", "--", "--"),
    ("cat <<E\na\nE\nls", "cat <<E ; ls\na\nE", "--", "--"),  # the grammar has no `;` there
    ("cat <<E\n$(ls)\nE", "cat <<E\n$(pwd)\nE", "--", "--"),
    ("ls | xargs -I % cp % $(dirname %)", "ls | xargs -I {} cp {} $(dirname {})", "TC", "TC"),
    # To the old program a negated test is two elements, and their brackets stay.
    (r"find . \( ! -name a \)", "find . ! -name a", "--", "TC"),
    (r"find . \( -name a \)", "find . -name a", "TC", "TC"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "strict", "loose"), EQUAL)
def test_equal(a: str, b: str, strict: str, loose: str) -> None:
    modes: tuple[tuple[Mode, str], ...] = (("strict", strict), ("loose", loose))
    for mode, wanted in modes:
        one, other = form(a, mode), form(b, mode)
        found = "T" if one.template == other.template else "-"
        assert found + ("C" if one.command == other.command else "-") == wanted


texts = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["find", "ls", ".", "-name", "a", "|", "xargs", "-I", "%", "$(", ")", "`", "'", '"', "\\(",
             "\\)", "{}", "\\;", "-exec", ";", "&&", ">", "<(", "--", "-", "sudo", "tar", "head", "-5",
             "sh", "-c", "for", "do", "done", "\n", "!", "#", "=", "x=1"]
        ),
        max_size=12,
    ).map(" ".join),
)  # fmt: skip


HOSTILE = [
    "find . " + "\\( " * 5_000,
    "find . " + "-exec find " * 500,
    "nohup " * 20_000 + "ls",
    "ls " + "x " * 10_000,
    "ls " + "-a x " * 5_000,
    "echo " + "$(echo " * 300 + ")" * 300,
    "$(" * 5_000,
    "`" * 10_000,
    "(" * 5_000,
    "{" * 5_000,
    "'" * 10_001,
    'sh -c "' + 'sh -c \\"' * 500,
    "<<a " * 500,
    "| " * 10_000,
    "a=" * 10_000,
    # What the grammar would take minutes for.
    ")" * 1_000_000,
    "`\0.." * 250_000,
    "then " * 200_000,
    ")a[1]=" * 150_000,
    "cat <<A " * 100_000,
    "ls \udcff\udcfe\r\n" * 50_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
def test_hostile_text_has_a_form_too(text: str) -> None:
    modes: tuple[Mode, ...] = ("strict", "loose", "nl2bash")
    for mode in modes:
        found = form(text, mode)
        list(structure_tokens(found.body))
        utilities_used(found.body)
    assert form(text).command


def test_a_word_may_be_long() -> None:
    assert form(f"sort -{'n' * 100_000} '{'x y ' * 2_000}'").template.endswith("-n -n File")
    assert form(f"echo {'x' * 1_000_000} | wc -{'l' * 3}").template == "echo Regex | wc -l -l -l"


@given(text=texts, mode=st.sampled_from(["strict", "loose", "nl2bash"]))
def test_any_text_has_a_form(text: str, mode: Mode) -> None:
    found = form(text, mode)
    if mode != "nl2bash":
        assert bool(found.template) == bool(found.command)
        assert found.command or not text.strip().strip("\\#;& \t\n") or "#" in text


@given(text=texts)
def test_a_command_matches_itself_unless_there_is_nothing(text: str) -> None:
    if form(text).command:
        assert matched(text, [text], "strict").command == "m"
        assert matched(text, [text], "loose").command == "m"
    else:
        assert matched(text, [text], "strict").command == "?"


def test_the_table_is_large_enough_and_sound() -> None:
    assert len(utilities()) >= 90
    flags = sum(len(utility(name).takes) for name in utilities())
    assert flags >= 160
    types = {t for n in utilities() for taken in utility(n).takes.values() for t in taken.types}
    types |= {slot for name in utilities() for slot in utility(name).slots}
    assert types <= {
        "File", "Directory", "Path", "Regex", "Program", "Permission", "DateTime", "Quantity",
        "Number", "Timespan", "Size", "Bandwidth", "Type", "Option", "Format",
    }  # fmt: skip


def test_no_flag_stands_in_the_table_twice() -> None:
    table = tomllib.loads((Path(__file__).parent / "utilities.toml").read_text(encoding="utf-8"))
    for name, facts in table.items():
        for field in ("takes", "same", "ordered"):
            words = facts.get(field, "").replace(",", " ").split()
            flags = [word for word in words if word.startswith("-")]
            assert len(flags) == len(set(flags)), f"{field} of {name}"


def test_what_is_said_about_order_is_about_flags() -> None:
    for name in utilities():
        known = utility(name)
        assert known.moves in ("all", "leading", "none"), name
        changed = frozenset().union(*known.sets.values())
        named = {*known.ordered, *known.sets, *changed, *known.placed}
        assert all(flag.startswith("-") for flag in named), name
        assert {known.names.get(flag, flag) for flag in named} == named, name
        if known.flags:  # all that there are
            assert named <= known.flags | known.takes.keys(), name


def test_no_command_is_ever_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by starting a program nor by any other way that would leave a file behind."""

    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError(f"a program would have been started: {given}")

    for name in ("system", "popen", "fork", "posix_spawn", "posix_spawnp", "execv", "execve"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    canary = tmp_path / "canary"
    predictions = [
        [f"touch {canary}", f"x=$(touch {canary})", f"cat <(touch {canary})"],
        [f"`touch {canary}`", f"find . -exec touch {canary} \\;", f"sh -c 'touch {canary}'"],
    ]
    gold = [
        {"nl": "make a file", "references": [f"touch {canary}"]},
        {"nl": "make it again", "references": [f"touch {canary}; touch {canary}"]},
    ]
    names = ("accuracy", "template_match", "character_bleu", "corpus_bleu", "nlc2cmd", "tldr")
    result = evaluate("commands", predictions, gold, metrics=names, slices=["utility"])
    assert result.scores["top1_command_accuracy"] == 0.5
    assert not canary.exists()
