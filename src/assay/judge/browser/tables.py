# SPDX-License-Identifier: Apache-2.0
"""Pages to look back with: a judge's answers, and how far judges agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from urllib.parse import quote

from assay.judge.agreement import Agreement, Coefficient
from assay.judge.answers import JudgeFacts
from assay.judge.browser.office import Brief, Looks
from assay.judge.browser.pages import EMPTY, doors, page
from assay.judge.coefficients import NAMES
from assay.judge.documents import AgreementDocument
from assay.judge.session import Session
from assay.judge.verdict import Verdict

Safe = Callable[[str], str]


def review(brief: Brief, session: Session) -> str:
    """All answers of a judge, to look at and to change."""
    safe = brief.looks.safe
    judge = session.log.judge
    rows = []
    for index, entry in enumerate(session.entries):
        said = [session.answer_to(entry, question) for question in brief.questions]
        if not any(said):
            continue  # what is still to be judged is shown when its turn comes
        words = ", ".join(
            f"{q.name}: {_word(v)}" if len(brief.questions) > 1 else _word(v)
            for q, v in zip(brief.questions, said, strict=True)
            if v is not None
        )
        reasons = "; ".join(v.reason for v in said if v is not None and v.reason)
        rows.append(
            f"<tr><td>{index + 1}</td>"
            f"<td class='text' dir='auto'>{brief.looks.judged(entry.item.prediction) or EMPTY}</td>"
            f"<td>{safe(words)}</td><td>{safe(reasons)}</td>"
            f"<td><button name='index' value='{index}'>Change</button></td></tr>"
        )
    if not rows:
        rows = ["<tr><td colspan='5'>Nothing is answered yet.</td></tr>"]
    body = f"""<header><h1>Answers of {safe(judge)}</h1></header>
<main><form method="post" action="/judge/{quote(judge)}/show">
<div class="wide"><table class="review cards"><thead><tr><th>#</th><th>Prediction</th>
<th>Answer</th><th>Reason</th><th></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div></form>
<nav><a href="/judge/{quote(judge)}">Back to judging</a></nav></main>"""
    return page(safe(f"Answers of {judge}"), body)


def _word(verdict: Verdict) -> str:
    return "skipped" if verdict.answer == "skip" else verdict.answer


def agreement_page(brief: Brief, document: AgreementDocument | None, problem: str) -> str:
    """How far the judges agree, who they are, and where they differ."""
    safe = brief.looks.safe
    parts = ["<header><h1>Agreement</h1></header><main>"]
    if document is None:
        parts.append(f"<p>{safe(problem)}</p>")
    else:
        percent = f"{100 * float(document.statistics['ci']):.10g} %"
        parts += [_coefficients(q, safe, percent) for q in document.questions.values()]
        parts.append(_judges(document, safe))
        parts.append(_disagreements(document, brief.looks))
        parts.append(_reasons(document, safe))
    parts.append(doors("/agreement") + "</main>")
    return page("Agreement", "\n".join(parts))


def _coefficients(found: Agreement, safe: Safe, percent: str) -> str:
    title = f"<h2>Question: {safe(found.question)}</h2>"
    if not found.rated_twice:
        return f"{title}<p>No prediction has two verdicts yet, so there is nothing to compare.</p>"
    rows = "".join(
        f"<tr><td>{_title(c)}</td>{_values(c, safe)}<td>{c.n:,}</td></tr>"
        for c in found.coefficients
    )
    pairs = "".join(
        f"<tr><td>{safe(' and '.join(p.judges))}</td><td>{_number(p.percent)}</td>"
        f"<td>{_number(p.cohen)}</td><td>{p.n:,}</td></tr>"
        for p in found.pairs
    )
    by_pair = (
        "<div class='wide'><table><thead><tr><th>Pair</th><th>Agreement</th>"
        f"<th>Cohen’s kappa</th><th>Items</th></tr></thead><tbody>{pairs}</tbody></table></div>"
        if len(found.pairs) > 1
        else ""
    )
    return f"""{title}
<div class="wide"><table><thead><tr><th>Coefficient</th><th>Value</th><th>{percent} interval</th>
<th>Items</th></tr></thead><tbody>{rows}</tbody></table></div>{by_pair}"""


def _title(found: Coefficient) -> str:
    name = NAMES[found.name].replace("'", "’")
    return name[0].upper() + name[1:]


def _values(found: Coefficient, safe: Safe) -> str:
    if math.isnan(found.value):
        return f"<td colspan='2' class='quiet'>{safe(found.why)}</td>"
    why = _small(found.why, safe)
    return f"<td>{_number(found.value)}</td><td>{_interval(found.interval)}{why}</td>"


def _small(words: str, safe: Safe) -> str:
    return f"<p class='quiet'>{safe(words)}</p>" if words else ""


def _judges(document: AgreementDocument, safe: Safe) -> str:
    checked = any(j.repeats or j.controls for j in document.judges)
    timed = any(not math.isnan(j.seconds_each) for j in document.judges)
    more = "<th>Seconds each</th>" if timed else ""
    more += "<th>Repeats same</th><th>Controls right</th>" if checked else ""
    rows = "".join(
        f"<tr><td>{safe(j.judge)}</td><td>{j.yes}</td><td>{j.no}</td><td>{j.unsure}</td>"
        f"<td>{j.skipped}</td>{_seconds(j) if timed else ''}{_checks(j) if checked else ''}</tr>"
        for j in document.judges
    )
    return f"""<h2>Judges</h2>
<div class="wide"><table><thead><tr><th>Judge</th><th>Yes</th><th>No</th><th>Unsure</th>
<th>Skipped</th>{more}</tr></thead><tbody>{rows}</tbody></table></div>"""


def _seconds(judge: JudgeFacts) -> str:
    each = judge.seconds_each
    return f"<td>{'' if math.isnan(each) else f'{each:.1f}'}</td>"


def _checks(judge: JudgeFacts) -> str:
    steady = f"{judge.steady} of {judge.repeats}" if judge.repeats else ""
    right = f"{judge.right} of {judge.controls}" if judge.controls else ""
    return f"<td>{steady}</td><td>{right}</td>"


def _disagreements(document: AgreementDocument, looks: Looks) -> str:
    safe = looks.safe
    n = document.unsettled
    settle = f"""<p>{n} to settle: a third person does it below, under their own name.</p>
<form method="post" action="/settle" class="row"><label for="name">Your name</label>
<input id="name" name="name" required maxlength="64"><button>Settle disagreements</button></form>"""
    rows = "".join(
        f"<tr><td class='text' dir='auto'>{looks.judged(d.text) or EMPTY}</td>"
        f"<td>{safe(d.question)}</td>"
        f"<td>{safe(', '.join(f'{j}: {a}' for j, a in d.answers.items()))}</td>"
        f"<td>{safe('; '.join(f'{j}: {r}' for j, r in d.reasons.items()))}</td>"
        f"<td>{d.final or '<i>open</i>'}</td></tr>"
        for d in document.disagreements
    )
    table = f"""<div class="wide"><table class="differing cards"><thead><tr><th>Text</th>
<th>Question</th><th>Answers</th><th>Reasons</th><th>Final</th></tr></thead><tbody>{rows}</tbody></table></div>"""
    none = "<p>The judges agree on everything that two of them have decided.</p>"
    return f"<h2>Where judges differ</h2>{settle if n else ''}{table if rows else none}"


def _reasons(document: AgreementDocument, safe: Safe) -> str:
    rows = "".join(f"<tr><td>{safe(why)}</td><td>{n}</td></tr>" for why, n in document.reasons)
    if not rows:
        return ""
    return f"""<h2>Reasons for a no</h2><div class="wide"><table><thead><tr><th>Reason</th>
<th>Verdicts</th></tr></thead><tbody>{rows}</tbody></table></div>"""


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _interval(bounds: tuple[float, float]) -> str:
    return "" if math.isnan(bounds[0]) else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
