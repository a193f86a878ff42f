# SPDX-License-Identifier: Apache-2.0
"""The pages of the judging server. All text that is not ours goes through `Looks.safe`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from assay.core.judging import Item
from assay.judge.agenda import Progress
from assay.judge.browser.office import Brief, Looks, Piece, Room
from assay.judge.nearest import nearest
from assay.judge.queue import place_of
from assay.judge.session import Asked, Session
from assay.judge.terminal import spell_time, states
from assay.judge.verdict import Verdict

LABELS = {
    "yes": "Yes",
    "no": "No",
    "unsure": "Unsure",
    "skip": "Skip",
    "back": "Back",
    "next": "Next",
    "undo": "Undo",
    "redo": "Redo",
}


EMPTY = "<i>(empty)</i>"


class Told(NamedTuple):
    """What a judge is told besides the item: about the last request, how a comparison stands, and
    how it ended."""

    note: str = ""
    running: str = ""
    ended: str = ""


def page(title: str, body: str, *, keys: Mapping[str, str] | None = None) -> str:
    """A whole page around a body; `title` is safe already."""
    bound = "".join(f' data-{action}="{_attribute(key)}"' for action, key in (keys or {}).items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/judge.css">
<script src="/static/judge.js" defer></script>
</head>
<body{bound}>
{body}
</body>
</html>
"""


def welcome(brief: Brief, present: Mapping[str, Session], known: Sequence[str]) -> str:
    """The door: who are you."""
    safe = brief.looks.safe
    rows = "".join(
        f"<tr><td><a href='/{brief.room}/{quote(judge)}'>{safe(judge)}</a></td>"
        f"<td>{_bar(session.progress)}</td></tr>"
        for judge, session in present.items()
    )
    rows += "".join(
        f"<tr><td><a href='/{brief.room}/{quote(judge)}'>{safe(judge)}</a></td>"
        "<td class='quiet'>has judged before</td></tr>"
        for judge in known
        if judge not in present
    )
    who = f"<h2>Judges</h2><table>{rows}</table>" if rows else ""
    n = len(brief.items)
    body = f"""<main class="narrow">
<h1>{safe(brief.title)}</h1>
<p>{n:,} prediction{"" if n == 1 else "s"}; what agrees with gold by rule is not asked about. Nobody
sees which system made a prediction, and each judge has an order of their own. {brief.asked_first}
Every answer is kept at once; you can stop and come back at any time.</p>
<form method="post" action="/start" class="row">
<label for="name">Your name</label>
<input id="name" name="name" required maxlength="64" autocomplete="username" autofocus>
<button class="primary">Start</button>
</form>
{who}
<h2>Guidelines</h2>
<pre class="text">{safe(brief.guidelines)}</pre>
{doors("/")}
</main>"""
    return page(safe(brief.title), body)


def desk(brief: Brief, session: Session, room: Room, told: Told) -> str:
    """The page of a judge at work."""
    judge = session.log.judge
    safe = brief.looks.safe
    title = safe(f"{judge} · {brief.title}")
    inner = work(brief, session, room, told)
    body = f"""<main id="work" data-room="{room}">{inner}</main>
<dialog id="guidelines" aria-label="Guidelines"><pre class="text">{safe(brief.guidelines)}</pre>
<form method="dialog"><button>Close</button></form></dialog>
<div id="trouble" role="alert" hidden></div>"""
    return page(title, body, keys=brief.keys)


def work(brief: Brief, session: Session, room: Room, told: Told) -> str:
    """What changes from answer to answer; the script puts it into the page."""
    safe = brief.looks.safe
    asked = None if told.ended else session.asked
    judge = session.log.judge
    parts = [
        f"<header><span class='who'>{safe(judge)}"
        f"{' settles disagreements' if room == 'adjudicate' else ''}</span>"
        f"{_bar(session.progress, id='progress')}</header>"
    ]
    if told.running:
        parts.append(f"<p class='running'>{safe(told.running)}</p>")
    if told.note:
        parts.append(f"<p class='note' role='status'>{safe(told.note)}</p>")
    base = f"/{room}/{quote(judge)}"
    if asked is None:
        parts.append(_finished(brief, session, room, told.ended))
    else:
        parts.append(card(brief.looks, asked.entry.item))
        if room == "adjudicate":
            parts.append(_others(brief, asked, judge))
        parts.append(_question(brief, asked, base))
    parts.append(_moves(brief, session, base, asked, room))
    return "\n".join(parts)


def card(looks: Looks, item: Item) -> str:
    """One item: what was asked for, gold, and the prediction with what differs marked."""
    safe = looks.safe
    rows: list[tuple[str, str, str]] = []
    if item.prompt:
        rows.append(("asked", "Asked for", safe(item.prompt)))
    near = nearest(item.prediction, item.references)
    sides = None if near is None else looks.diff(item.references[near], item.prediction)
    for place, text in enumerate(item.references):
        label = "Gold" if len(item.references) == 1 else f"Gold {place + 1}"
        marked = sides is not None and place == near
        shown = _pieces(looks, sides[0]) if marked and sides is not None else looks.judged(text)
        rows.append(("gold", label, shown))
    shown = looks.judged(item.prediction) if sides is None else _pieces(looks, sides[1])
    rows.append(("prediction", "Prediction", shown or EMPTY))
    listed = "".join(
        f"<div class='{kind}'><dt>{label}</dt>"
        f"<dd><pre class='text' dir='auto'>{shown}</pre></dd></div>"
        for kind, label, shown in rows
    )
    notes = "".join(f"<li>{safe(note)}</li>" for note in item.notes)
    warned = f"<ul class='warnings'>{notes}</ul>" if notes else ""
    return f"<article class='item'><dl>{listed}</dl>{warned}</article>"


def _pieces(looks: Looks, pieces: Iterable[Piece]) -> str:
    tags = {"same": ("", ""), "deleted": ("<del>", "</del>"), "inserted": ("<ins>", "</ins>")}
    return "".join(tags[p.kind][0] + looks.judged(p.text) + tags[p.kind][1] for p in pieces)


def _question(brief: Brief, asked: Asked, base: str) -> str:
    safe = brief.looks.safe
    buttons = "".join(
        _button(brief, action, f"{base}/answer", css=action) for action in ("yes", "no", "unsure")
    )
    before = ""
    if asked.before is not None and (asked.before.answer != "skip" or asked.before.reason):
        reason = f" ({safe(asked.before.reason)})" if asked.before.reason else ""
        before = f"<p class='quiet'>Your answer so far: {asked.before.answer}{reason}</p>"
    return f"""<form method="post" action="{base}/answer" class="question">
<h2>{safe(asked.question.text)}</h2>{before}
<input type="hidden" name="at" value="{_attribute(position(asked))}">
<div class="answers">{buttons}</div>
<label class="reason">Reason <kbd>{safe(brief.keys["comment"])}</kbd>
<input name="reason" maxlength="1000" autocomplete="off" enterkeyhint="done"></label>
{_ready_made(brief)}</form>"""


def _ready_made(brief: Brief) -> str:
    """Reasons to choose from; the script puts the chosen one into the field."""
    safe = brief.looks.safe
    buttons = "".join(
        f'<button type="button" data-reason="{number}" value="{_attribute(reason)}">{safe(reason)} '
        f"<kbd>{number}</kbd></button>"
        for number, reason in enumerate(brief.reasons, start=1)
    )
    return f"<div class='reasons'>{buttons}</div>" if buttons else ""


def position(asked: Asked) -> str:
    """What is on the table, as a form sends it back: an answer to anything else does not count."""
    item = asked.entry.item
    content = f"{item.key}\x00{item.prediction}".encode("utf-8", "surrogatepass")
    mark = hashlib.sha256(content).hexdigest()[:16]
    return f"{asked.entry.purpose}|{asked.question.name}|{mark}"


def _moves(brief: Brief, session: Session, base: str, asked: Asked | None, room: Room) -> str:
    moves = ["skip"] if asked is not None else []
    moves += ["back"] if session.can_go_back else []
    # Only who has come back to an item can leave it as it is; others skip it.
    moves += ["next"] if asked is not None and asked.before is not None else []
    moves += ["undo"] if session.can_undo else []
    moves += ["redo"] if session.can_redo else []
    buttons = "".join(_button(brief, move, f"{base}/{move}") for move in moves)
    key = brief.looks.safe(brief.keys["guidelines"])
    # What others said is not for those who are still judging.
    agreement = '<a href="/agreement">Agreement</a>' if asked is None else ""
    own = f'<a href="/review/{quote(session.log.judge)}">Your answers</a>'
    leave = f'<a href="/">All judges <kbd>{brief.looks.safe(brief.keys["quit"])}</kbd></a>'
    return f"""<form method="post" class="moves">{buttons}
<button type="button" data-action="guidelines" data-opens="guidelines">Guidelines <kbd>{key}</kbd>\
</button></form>
<nav>{leave} {own if room == "judge" else ""} {agreement}</nav>"""


def _button(brief: Brief, action: str, target: str, css: str = "") -> str:
    key = brief.looks.safe(brief.keys[action])
    return (
        f'<button class="{css}" data-action="{action}" name="action" value="{action}" '
        f'formaction="{target}">{LABELS[action]} <kbd>{key}</kbd></button>'
    )


def _finished(brief: Brief, session: Session, room: Room, ended: str) -> str:
    if ended:
        return f"<section class='done'><h2>Decided</h2><p>{brief.looks.safe(ended)}</p></section>"
    if not session.entries:
        what = "Nothing is left to judge." if room == "judge" else "There is nothing to settle."
        return f"<section class='done'><h2>{what}</h2></section>"
    return (
        "<section class='done'><h2>All answered. Thank you!</h2>"
        "<p>You can still undo or go back; everything is kept.</p></section>"
    )


def said_by_others(brief: Brief, asked: Asked, judge: str) -> list[Verdict]:
    """What each judge said about the item; of the one who settles it what they said before."""
    return [
        verdict
        for verdict in brief.store().of_judges(place_of(asked.entry.item, asked.question))
        if not (verdict.judge == judge and verdict.purpose == "adjudication")
    ]


def _others(brief: Brief, asked: Asked, judge: str) -> str:
    """What each judge said about the item, side by side."""
    safe = brief.looks.safe
    said = said_by_others(brief, asked, judge)
    boxes = "".join(
        f"<div class='said {v.answer}'><b>{safe(v.judge)}</b> says <b>{v.answer}</b>"
        f"{f'<p>{safe(v.reason)}</p>' if v.reason else ''}</div>"
        for v in said
    )
    own = ""
    if any(verdict.judge == judge for verdict in said):
        own = (
            "<p class='quiet'>You are one of those who differ; a third person should settle it.</p>"
        )
    return f"<section class='others'>{boxes}</section>{own}"


def refusal(brief: Brief, message: str) -> str:
    """A page that says why something is not possible."""
    safe = brief.looks.safe
    body = f"""<main class="narrow"><h1>That did not work</h1><p>{safe(message)}</p>
<nav><a href="/">Back to the start</a></nav></main>"""
    return page("That did not work", body)


def doors(here: str) -> str:
    """Where else one can go."""
    links = {
        "/": '<a href="/">All judges</a>',
        "/agreement": '<a href="/agreement">Agreement</a>',
        "/export.csv": '<a href="/export.csv" download>Export CSV</a>',
        "/export.jsonl": '<a href="/export.jsonl" download>Export JSONL</a>',
    }
    return f"<nav>{' '.join(link for place, link in links.items() if place != here)}</nav>"


def _bar(progress: Progress, id: str = "") -> str:
    """Progress in words and as a bar."""
    total = max(1, progress.total - progress.spared)
    words = [f"{progress.done} of {progress.total} done", *states(progress)]
    if progress.left:
        words.append(f"about {spell_time(progress.seconds_left)} left")
    named = f" id='{id}'" if id else ""
    return (
        f"<span class='progress'><progress max='{total}' value='{progress.done}' "
        f"aria-label='done'></progress> <span{named}>{' · '.join(words)}</span></span>"
    )


def _attribute(text: str) -> str:
    from html import escape

    return escape(text, quote=True)
