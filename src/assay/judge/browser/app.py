# SPDX-License-Identifier: Apache-2.0
"""What can be asked of the judging server.

Every handler is one piece of work on the event loop: it reads the request, changes one session,
and is done. So two judges who answer at the same moment are served one after the other, and an
answer that was acknowledged is on disk. A page asked for with `Accept: application/json` comes as
data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from assay.core.document import plain
from assay.core.errors import AssayError, UsageError
from assay.judge.browser import pages, tables
from assay.judge.browser.office import Brief, Office, Room
from assay.judge.session import Session
from assay.judge.verdict import Verdict, judge_name
from assay.web import Access, HttpError, application, page_policy

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

Handler = Callable[["Request"], Awaitable["Response"]]
STATIC = {"judge.css": "text/css", "judge.js": "text/javascript"}
LATE = "That item has been answered already; here is the next one."


def judging_app(brief: Brief, access: Access | None = None) -> tuple[ASGIApp, Office]:
    """The application, and the office whose logs are to be closed at the end."""
    from starlette.routing import Route

    office = Office(brief)
    desk = _Desk(office)
    routes = [
        Route("/", desk.guarded(desk.welcome)),
        Route("/start", desk.guarded(desk.start), methods=["POST"]),
        Route("/settle", desk.guarded(desk.start), methods=["POST"]),
        Route("/agreement", desk.guarded(desk.agreement)),
        Route("/export.{form:str}", desk.guarded(desk.export)),
        Route("/review/{judge:str}", desk.guarded(desk.review)),
        Route("/static/{name:str}", desk.static),
        Route("/judge/{judge:str}/show", desk.guarded(desk.show), methods=["POST"]),
    ]
    for room in ("judge", "adjudicate"):
        routes += [
            Route(f"/{room}/{{judge:str}}", desk.guarded(desk.page)),
            Route(
                f"/{room}/{{judge:str}}/{{action:str}}", desk.guarded(desk.act), methods=["POST"]
            ),
        ]
    return application(routes, access=access, body_limit=64 * 1024), office


class _Desk:
    def __init__(self, office: Office) -> None:
        self.office = office
        self.brief = office.brief

    def guarded(self, handler: Handler) -> Handler:
        """Turn what can go wrong for a user into a page, or into data for a script."""

        async def run(request: Request) -> Response:
            judge = request.path_params.get("judge")
            try:
                # Who looks at a page leaves nothing behind: judges come in by the door.
                if judge is not None and not self.office.knows(judge):
                    return self._stranger(request, judge)
                return await handler(request)
            except AssayError as error:
                status = 409 if isinstance(error, UsageError) else 500
                if _wants_data(request) or request.headers.get("x-part"):
                    raise HttpError(status, str(error)) from None
                return _html(pages.refusal(self.brief, str(error)), status)

        return run

    def _stranger(self, request: Request, judge: str) -> Response:
        if _wants_data(request) or request.headers.get("x-part"):
            raise HttpError(404, f"nobody has come in as '{judge}'; POST /start with that name")
        return _redirect("/")

    async def welcome(self, request: Request) -> Response:
        """The first page: who judges, and how far they are."""
        present = self.office.present()
        if _wants_data(request):
            from starlette.responses import JSONResponse

            state = {judge: plain(session.progress) for judge, session in present.items()}
            return JSONResponse({"items": len(self.brief.items), "judges": state})
        known = sorted(self.brief.store().history)
        return _html(pages.welcome(self.brief, present, known))

    async def start(self, request: Request) -> Response:
        """A judge comes in."""
        form = await _form(request)
        judge = judge_name(form.get("name", ""))
        room: Room = "adjudicate" if request.url.path == "/settle" else self.brief.room
        self.office.session(judge, room)
        return _redirect(f"/{room}/{quote(judge)}")

    async def page(self, request: Request) -> Response:
        """A judge's desk."""
        session, room = self._session(request)
        return self._answer(request, session, room)

    async def act(self, request: Request) -> Response:
        """An answer, or a move."""
        session, room = self._session(request)
        action = request.path_params["action"]
        form = await _form(request)
        note = ""
        if action == "answer":
            answer = form.get("action", "")
            if answer not in ("yes", "no", "unsure"):
                raise HttpError(422, f"'{answer}' is no answer; there are: yes, no, unsure")
            asked = session.asked
            if asked is None or form.get("at", "") != pages.position(asked):
                note = LATE
            else:
                session.answer(answer, _reason(form))  # type: ignore[arg-type]
        elif action == "skip":
            if (asked := session.asked) and form.get("at", "") in ("", pages.position(asked)):
                session.skip(_reason(form))
        elif action == "next":
            session.next()
        elif action in ("undo", "redo", "back"):
            if not getattr(session, action)():
                note = f"There is nothing to {action if action != 'back' else 'go back to'}."
        else:
            raise HttpError(404, f"there is no action '{action}'")
        return self._answer(request, session, room, note=note, moved=True)

    async def show(self, request: Request) -> Response:
        """Go to one of the judge's items, to change the answer."""
        session = self.office.session(request.path_params["judge"], "judge")
        form = await _form(request)
        index = form.get("index", "")
        if not index.isdecimal() or int(index) >= len(session.entries):
            raise HttpError(422, f"there is no item {index}")
        session.show(int(index))
        return _redirect(f"/judge/{quote(session.log.judge)}")

    async def review(self, request: Request) -> Response:
        """All answers of a judge."""
        session = self.office.session(request.path_params["judge"], "judge")
        if _wants_data(request):
            from starlette.responses import JSONResponse

            return JSONResponse({"judge": session.log.judge, "answers": _answers(session)})
        return _html(tables.review(self.brief, session))

    async def agreement(self, request: Request) -> Response:
        """How far judges agree."""
        problem, document = "", None
        try:
            document = self.brief.agreement()
        except UsageError as error:
            problem = str(error)
        if _wants_data(request):
            from starlette.responses import JSONResponse

            if document is None:
                raise HttpError(409, problem)
            return JSONResponse(document.as_dict())
        return _html(tables.agreement_page(self.brief, document, problem))

    async def export(self, request: Request) -> Response:
        """All verdicts, for other programs."""
        from starlette.responses import Response

        form = request.path_params["form"]
        if form not in ("csv", "jsonl"):
            raise HttpError(404, f"there is no export as {form}; there are csv and jsonl")
        kind = "text/csv" if form == "csv" else "application/jsonl"
        name = f"attachment; filename=verdicts.{form}"
        return Response(
            self.brief.export(form), media_type=kind, headers={"content-disposition": name}
        )

    async def static(self, request: Request) -> Response:
        """The style sheet and the script."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in STATIC:
            raise HttpError(404, f"there is no file {name}")
        data = files("assay.judge.browser").joinpath("static", name).read_bytes()
        return Response(data, media_type=STATIC[name])

    def _session(self, request: Request) -> tuple[Session, Room]:
        room: Room = "adjudicate" if request.url.path.startswith("/adjudicate/") else "judge"
        return self.office.session(request.path_params["judge"], room), room

    def _answer(
        self,
        request: Request,
        session: Session,
        room: Room,
        *,
        note: str = "",
        moved: bool = False,
    ) -> Response:
        """The state after a request: data, the changed part of the page, or the page."""
        running, decided = "", False
        if self.brief.running is not None and room == "judge":
            running, decided = self.brief.running(session.log)
        if _wants_data(request):
            from starlette.responses import JSONResponse

            state = _state(session, note, running, decided)
            if room == "adjudicate" and session.asked is not None:
                said = pages.said_by_others(self.brief, session.asked, session.log.judge)
                state["asked"]["said"] = list(map(_said, said))
            return JSONResponse(state)
        told = pages.Told(note, ended=running) if decided else pages.Told(note, running)
        if request.headers.get("x-part"):
            return _html(pages.work(self.brief, session, room, told))
        if moved and not note:
            return _redirect(f"/{room}/{quote(session.log.judge)}")
        return _html(pages.desk(self.brief, session, room, told))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of a repeated one the last."""
    body = (await request.body()).decode("utf-8", "replace")
    return dict(parse_qsl(body, keep_blank_values=True))


def _reason(form: dict[str, str]) -> str:
    return form.get("reason", "").strip()[:1000]


def _said(verdict: Verdict) -> dict[str, Any]:
    return {"judge": verdict.judge, "answer": verdict.answer, "reason": verdict.reason}


def _answers(session: Session) -> list[dict[str, Any]]:
    """What a judge has answered, by item; `index` is what the item is shown again by."""
    found = []
    for index, entry in enumerate(session.entries):
        said = {q.name: session.answer_to(entry, q) for q in session.questions}
        given = {name: _said(verdict) for name, verdict in said.items() if verdict is not None}
        if given:
            item = entry.item
            found.append(
                {"index": index, "id": item.id, "prediction": item.prediction, "answers": given}
            )
    return found


def _state(session: Session, note: str, running: str, decided: bool) -> dict[str, Any]:
    asked = session.asked
    return {
        "judge": session.log.judge,
        "progress": plain(session.progress),
        "left": session.progress.left,
        "note": note,
        "running": running,
        "decided": decided,
        "asked": None
        if asked is None
        else {
            "at": pages.position(asked),
            "id": asked.entry.item.id,
            "question": asked.question.name,
            "prompt": asked.entry.item.prompt,
            "prediction": asked.entry.item.prediction,
            "references": list(asked.entry.item.references),
            "before": asked.before.answer if asked.before else None,
        },
    }


def _wants_data(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _html(text: str, status: int = 200) -> Response:
    from starlette.responses import HTMLResponse

    data = text.encode("utf-8", "backslashreplace")
    # Under the stricter no-referrer a browser says `Origin: null` for the forms of our own pages.
    headers = {**page_policy(), "referrer-policy": "same-origin"}
    return HTMLResponse(data, status_code=status, headers=headers)


def _redirect(target: str) -> Response:
    from starlette.responses import RedirectResponse

    return RedirectResponse(target, status_code=303)
