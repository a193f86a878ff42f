# SPDX-License-Identifier: Apache-2.0
"""A session at a keyboard, or over a pipe.

At a keyboard one key is one answer. Over a pipe one line is one answer: the key, or the word, and
behind it a reason if there is one (`n wrong flags`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from assay.core.judging import Item
from assay.judge.agenda import Progress
from assay.judge.keys import key_line, reason_of
from assay.judge.session import Asked, Session
from assay.judge.verdict import Answer, Verdict

End = Literal["done", "quit", "closed", "decided"]
ANSWERS: tuple[Answer, ...] = ("yes", "no", "unsure")


class Console(Protocol):
    """Where a judge sits."""

    def say(self, text: str) -> None:
        """Show a line."""

    def command(self, prompt: str) -> str | None:
        """What the judge wants: a key or a line; None when there is nobody any more."""

    def line(self, prompt: str) -> str | None:
        """A line of text; None when there is nobody any more."""


def judge_at(
    console: Console,
    session: Session,
    *,
    present: Callable[[Item], Sequence[str]],
    keys: Mapping[str, str],
    guidelines: str,
    reasons: Sequence[str] = (),
    running: Callable[[], tuple[str, bool]] | None = None,
) -> End:
    """Ask until all is answered, or the judge leaves.

    `present` gives the lines that show an item. `reasons` are chosen by their number. `running`
    gives a line about the state of a comparison and whether it is decided.
    """
    by_key = {key: action for action, key in keys.items()}
    reason = ""
    shown: tuple[int, str] | None = None
    told = ""
    console.say(key_line(keys, reasons))
    while True:
        asked = session.asked
        if asked is None:
            if _stays(console, session, keys, by_key):
                shown = None
                continue
            break
        if running is not None:
            line, decided = running()
            if line != told:
                console.say(line)
                told = line
            if decided:
                return "decided"
        if (asked.index, asked.question.name) != shown:
            if shown is None or shown[0] != asked.index:
                console.say("")
                console.say(headline(asked, session.progress))
                for each in present(asked.entry.item):
                    console.say(each)
            if asked.before is not None and (asked.before.answer != "skip" or asked.before.reason):
                console.say(f"  (your answer so far: {said_before(asked.before)})")
            shown = (asked.index, asked.question.name)
        said = console.command(f"{asked.question.text} [{keys['yes']}/{keys['no']}/...] ")
        if said is None:
            return "closed"
        action, text = understood(said, by_key)
        ready_made = reason_of(said, reasons)
        if ready_made in reasons:
            reason = ready_made
            console.say(f"reason: {reason}")
            continue
        if action == "quit":
            return "quit"
        if action == "comment":
            given = text or console.line("reason: ")
            if given is None:
                return "closed"
            reason = reason_of(given, reasons)
        elif action == "guidelines":
            for each in guidelines.splitlines():
                console.say(f"  {each}")
        elif action in ANSWERS:
            session.answer(action, reason_of(text, reasons) or reason)
            reason = ""
        elif action == "skip":
            session.skip(reason_of(text, reasons) or reason)
            reason, shown = "", None
        elif action is None or not _moved(session, action, console):
            if action is None:
                console.say(f"'{said.strip()[:20]}' is no key: {key_line(keys, reasons)}")
            continue
        else:
            reason, shown = "", None  # it was for the item that is left now
    if running is not None:
        line, decided = running()
        if line != told:
            console.say(line)
        if decided:
            return "decided"
    return "done"


def _stays(
    console: Console, session: Session, keys: Mapping[str, str], by_key: Mapping[str, str]
) -> bool:
    """All is answered: whether the judge goes back to something nevertheless."""
    undo, back, leave = (keys[action] for action in ("undo", "back", "quit"))
    while True:
        said = console.command(f"all answered: [{undo}] undo  [{back}] back  [{leave}] quit ")
        action = "quit" if said is None else understood(said, by_key)[0]
        if action in ("undo", "back"):
            if _moved(session, action, console):
                return True
        elif action == "quit":
            return False


def understood(said: str, by_key: Mapping[str, str]) -> tuple[str | None, str]:
    """The action of a key, of a word, or of either with a text behind it.

    >>> understood("n wrong flags", {"y": "yes", "n": "no"}), understood("YES", {"y": "yes"})
    (('no', 'wrong flags'), ('yes', ''))
    """
    word, _, text = said.strip().partition(" ")
    if word in by_key:
        return by_key[word], text.strip()
    lower = word.casefold()
    if lower in by_key:
        return by_key[lower], text.strip()
    return (lower, text.strip()) if lower in by_key.values() else (None, "")


def said_before(verdict: Verdict) -> str:
    """An answer with its reason, in which nothing steers the terminal."""
    reason = "".join(c if c.isprintable() else "?" for c in verdict.reason)
    return f"{verdict.answer}, {reason}" if reason else verdict.answer


def fitted(text: str, width: int) -> list[str]:
    """A line as lines of a terminal: broken at double blanks if there are some, else at blanks.

    >>> fitted("[y]es  [n]o  [1] wrong flag", 16), fitted("  to be or not", 10)
    (['[y]es  [n]o', '[1] wrong flag'], ['  to be or', '  not'])
    """
    bare = text.lstrip(" ")
    indent = " " * (len(text) - len(bare))
    gap = "  " if "  " in bare else " "
    lines: list[str] = []
    for part in bare.split(gap):
        if lines and len(lines[-1]) + len(gap) + len(part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(indent + part)
    return lines


def headline(asked: Asked, progress: Progress) -> str:
    """Where the judge is: the item, what is done, and how long the rest may take."""
    parts = [f"item {asked.index + 1} of {progress.total}", f"{progress.done} done"]
    parts += [*states(progress), f"about {spell_time(progress.seconds_left)} left"]
    return " · ".join(parts)


def states(progress: Progress) -> list[str]:
    """What is neither answered nor simply open, as far as there is any of it.

    >>> states(Progress(9, 2, 1, 0, 3, 4, 0, 15.0)), states(Progress(9, 2, 0, 1, 0, 1, 6, 15.0))
    (['1 skipped', '3 not needed'], ['1 unsure', '1 can change a score'])
    """
    words = {
        "skipped": progress.skipped,
        "unsure": progress.unsure,
        "not needed": progress.spared,
        "can change a score": progress.deciding if progress.idle else 0,
    }
    return [f"{count:,} {word}" for word, count in words.items() if count]


def spell_time(seconds: float) -> str:
    """A rough time in words.

    >>> spell_time(20), spell_time(150), spell_time(7200)
    ('1 min', '3 min', '2.0 h')
    """
    minutes = max(1, -(-int(seconds) // 60))
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _moved(session: Session, action: str, console: Console) -> bool:
    if action == "next":
        session.next()
    elif action == "back":
        if not session.back():
            console.say("this is the first item you have seen")
            return False
    elif action == "undo":
        if not session.undo():
            console.say("there is nothing to undo")
            return False
    elif action == "redo" and not session.redo():
        console.say("there is nothing to redo")
        return False
    return True
