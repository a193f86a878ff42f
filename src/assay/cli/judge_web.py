# SPDX-License-Identifier: Apache-2.0
"""`assay judge RUN --web`: the judging server."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from assay.judge.browser.office import Brief
    from assay.judge.session import Session
    from assay.pipeline.worklist import Worklist

ASKED_FIRST = {
    "first": "What can still change a score comes first.",
    "only": "Only what can still change a score is asked.",
}


def brief_of(work: Worklist, folder: Path, **given: Any) -> Brief:
    """What the server needs to know, from what was asked for on the command line."""
    from assay import tasks
    from assay.judge.browser.office import Brief, Looks, Room
    from assay.judge.export import to_lines, to_sheet
    from assay.judge.keys import keys_of, reasons_of
    from assay.judge.log import VerdictLog
    from assay.judge.store import Store
    from assay.pipeline.agreements import agreements
    from assay.pipeline.queues import Plan, running_line
    from assay.pipeline.worklist import open_store
    from assay.report.escape import safe_html
    from assay.report.words import cut_by, word_diff

    plan = Plan.of(given)

    def store() -> Store:
        return open_store(folder, work)

    def open_session(log: VerdictLog, room: Room) -> Session:
        chosen = plan.settling() if room == "adjudicate" else replace(plan, adjudicate=False)
        return chosen.session(work, store(), folder, log)[0]

    def export(form: str) -> str:
        lines = (to_sheet if form == "csv" else to_lines)(work.items, work.questions, store())
        return "".join(lines)

    drawn = ""
    if plan.sample is not None and not plan.adjudicate:
        drawn = f"Of the examples {plan.sample:,} are drawn at random and asked about."

    return Brief(
        title=f"Judging {work.task}",
        folder=folder,
        questions=work.questions,
        items=work.items,
        guidelines=work.guidelines,
        keys=keys_of(given.get("keys")),
        reasons=reasons_of(given.get("reasons")),
        looks=Looks(safe_html, partial(word_diff, split=cut_by(tasks.load(work.task).tokens))),
        open_log=lambda judge: VerdictLog(folder, judge, structure_of=work.structure_of),
        open_session=open_session,
        store=store,
        agreement=lambda: agreements(
            work,
            store(),
            weights=given.get("weights", "nominal"),
            level=given.get("ci", 0.95),
            resamples=given.get("resamples", 1000),
            seed=given.get("seed", 12345),
        ),
        export=export,
        asked_first=" ".join(filter(None, (drawn, ASKED_FIRST.get(plan.deciding or "", "")))),
        running=(lambda log: running_line(work, store(), log, plan.alpha))
        if plan.until_decided
        else None,
        room="adjudicate" if plan.adjudicate else "judge",
    )


def serve_judging(work: Worklist, folder: Path, **given: Any) -> None:
    """Answer until stopped."""
    from assay.judge.appending import writable_folder
    from assay.judge.browser.app import judging_app
    from assay.web import Access, Address, serve, url_from_elsewhere

    writable_folder(folder)
    access = Access.for_host(given["host"], given["token"])
    app, office = judging_app(brief_of(work, folder, **given), access)

    def ready(address: Address) -> None:
        with_token = f"/?token={access.token}" if access.token else "/"
        click.echo(f"judging at {address.url}{with_token}")
        if not given["quiet"]:
            if elsewhere := url_from_elsewhere(address):
                click.echo(f"assay: from other machines: {elsewhere}{with_token}", err=True)
            click.echo(f"assay: verdicts go to {folder}; Ctrl-C ends", err=True)

    try:
        serve(app, host=given["host"], port=given["port"], ready=ready)
    finally:
        office.close()
