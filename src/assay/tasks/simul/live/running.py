# SPDX-License-Identifier: Apache-2.0
"""A whole run, in process or against a server, in threads or processes, with its scores."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.errors import StoppedError, UsageError
from assay.tasks.simul.events import EventLog, Header, read_events
from assay.tasks.simul.live import results
from assay.tasks.simul.live.corpus import Corpus
from assay.tasks.simul.live.drivers import Driver, driver_for
from assay.tasks.simul.live.links import HttpLink, Link, LocalLink
from assay.tasks.simul.live.processes import in_processes
from assay.tasks.simul.live.session import Session
from assay.tasks.simul.live.sessions import LOG, check_stream, keep_aside
from assay.tasks.simul.live.settings import Plan, Server
from assay.tasks.simul.live.workers import Progress, work_through

Say = Callable[[str], None]


def run(plan: Plan, *, scores: bool, say: Say, progress: Progress) -> dict[str, Any] | None:
    """Do what the plan says; the scores, if they are asked for or the run is in process."""
    if plan.server is not None:
        return _against_server(plan, plan.server, scores=scores, say=say, progress=progress)
    return _in_process(plan, say=say, progress=progress)


def _in_process(plan: Plan, *, say: Say, progress: Progress) -> dict[str, Any] | None:
    if plan.data is None or plan.data.tgt_file is None:
        raise UsageError(
            "what is to be translated? give --src-file and --tgt-file, or --port of a server"
        )
    corpus = plan.data.load()
    for note in corpus.notes:
        say(note)
    with _workplace(plan) as folder:
        session, log = _opened(corpus, folder, plan, say)
        ids = plan.ids(len(corpus))
        todo = [i for i in ids if not session.finished(i)]
        if len(todo) < len(ids):
            say(f"{len(ids) - len(todo):,} of {len(ids):,} sentences are finished already")
        try:
            if plan.jobs > 1:
                if log is not None:
                    log.shut()
                log = None
                in_processes(replace(plan, output=str(folder)), _part, len(todo), progress)
                assert folder is not None
                session = _restored(corpus, folder / LOG)
            else:
                exact = _wants_exact(plan)
                _work(plan, todo, lambda: LocalLink(session, exact=exact), progress)
        except KeyboardInterrupt:
            if plan.jobs > 1 and folder is not None:  # what processes did is in the log alone
                session = _restored(corpus, folder / LOG)
            raise _stopped(plan, session, ids) from None
        finally:
            if log is not None:
                log.shut()
        if plan.shard is not None and plan.output is not None:
            say(f"shard {plan.shard[0]}/{plan.shard[1]} is done; join all with 'assay simul merge'")
            return None
        if not plan.scoring:
            return None
        scores = _scored(plan, session, ids, say)
        if plan.measures is None:
            return scores
        from assay.tasks.simul.measured import measured

        assert folder is not None
        found, remarks = measured(folder / LOG, plan.measures)
        for remark in remarks:
            say(remark)
        return found


def _scored(plan: Plan, session: Session, ids: Sequence[int], say: Say) -> dict[str, Any]:
    found = results.tally(session, ids, allow_missing=True)
    scores = results.scores(found, plan.tokenizer)
    if plan.output is not None:
        results.write(Path(plan.output), found, scores)
        say(f"text, delay, scores and {LOG} written to {plan.output}")
    return dict(scores)


@contextmanager
def _workplace(plan: Plan) -> Iterator[Path | None]:
    """The output folder; where there is none, processes still need a place for their log, and so do
    metrics that are computed from it."""
    if plan.output is not None:
        yield Path(plan.output)
    elif plan.jobs > 1 or plan.measures is not None:
        with tempfile.TemporaryDirectory(prefix="assay-simul-") as folder:
            yield Path(folder)
    else:
        yield None


def _opened(
    corpus: Corpus, folder: Path | None, plan: Plan, say: Say
) -> tuple[Session, EventLog | None]:
    if folder is None:
        return Session(corpus), None
    path = folder / LOG
    there = path.exists() and path.stat().st_size > 0
    if there and not plan.resume:
        say(f"the log that was in {folder} is now {keep_aside(path).name}")
    session = _restored(corpus, path) if there and plan.resume else Session(corpus)
    log = EventLog(path, Header(corpus.kind, "text", "word"), resume=True, held=True)
    session.log = log
    return session, log


def _restored(corpus: Corpus, path: Path) -> Session:
    _, streams = read_events(path)
    for stream in streams:
        check_stream(corpus, stream.id, stream.reference, path)
    session = Session(corpus)
    session.restore(stream for stream in streams if stream.finished)
    return session


def _against_server(
    plan: Plan, server: Server, *, scores: bool, say: Say, progress: Progress
) -> dict[str, Any] | None:
    link = _linked(server)
    try:
        if plan.reset:
            link.reset()
        if plan.choice.name or plan.choice.file or plan.choice.class_name or plan.choice.remote:
            _translate(plan, server, link, say, progress)
        return link.result() if scores else None
    finally:
        link.close()


def _translate(plan: Plan, server: Server, link: HttpLink, say: Say, progress: Progress) -> None:
    ids = plan.ids(link.count)
    status = link.status()
    finished = set() if status is None else set(status["finished"]).intersection(ids)
    if finished and not plan.resume:
        raise UsageError(
            f"{len(finished):,} of these sentences are finished on the server; "
            "use --resume to do the others, or --reset-server to begin anew"
        )
    todo = [i for i in ids if i not in finished]
    if finished:
        say(f"{len(finished):,} of {len(ids):,} sentences are finished already")
    try:
        if plan.jobs > 1:
            in_processes(replace(plan, reset=False, resume=True), _part, len(todo), progress)
        else:
            _work(plan, todo, lambda: _linked(server), progress)
    except KeyboardInterrupt:
        raise StoppedError("interrupted; go on with --resume") from None


def _linked(server: Server) -> HttpLink:
    return HttpLink(
        server.host,
        server.port,
        token=server.token,
        session=server.session,
        retry_seconds=server.retry_seconds,
        kind=server.kind,
        rate=server.rate,
    )


def _drivers(plan: Plan) -> Callable[[], Driver]:
    """What makes an agent for a worker."""
    if plan.choice.remote is not None:
        from assay.tasks.simul.live.remote import RemoteAgent

        host, port = plan.choice.remote
        probe = RemoteAgent(host, port, 1)
        try:
            probe.about()
        finally:
            probe.close()
        return lambda: RemoteAgent(host, port, plan.max_steps, plan.segment_ms)
    found = plan.choice.load()
    args = plan.choice.arguments(found)
    return driver_for(found, args, limit=plan.max_steps, segment_ms=plan.segment_ms)


def _wants_exact(plan: Plan) -> bool:
    """Agents of SimulEval read any number of milliseconds, ours whole blocks."""
    if plan.choice.remote is not None:
        return True
    found = plan.choice.load()
    return hasattr(found, "pushpop") or hasattr(found, "units_to_segment")


def _work(plan: Plan, ids: Sequence[int], link_to: Callable[[], Link], progress: Progress) -> None:
    """Translate these sentences in this process."""
    if ids:
        work_through(
            ids,
            _drivers(plan),
            link_to,
            threads=plan.threads,
            step_seconds=plan.step_seconds,
            progress=progress,
        )


def _part(plan: Plan, progress: Progress) -> None:
    """The work of one process."""
    if plan.server is not None:
        server = plan.server
        link = _linked(server)
        status = link.status()
        finished = set() if status is None else set(status["finished"])
        todo = [i for i in plan.ids(link.count) if i not in finished]
        link.close()
        _work(plan, todo, lambda: _linked(server), progress)
        return
    assert plan.data is not None
    assert plan.output is not None
    corpus = plan.data.load()
    path = Path(plan.output) / LOG
    header = Header(corpus.kind, "text", "word")
    with EventLog(path, header, resume=True, held=True) as log:
        todo = [i for i in plan.ids(len(corpus)) if str(i) not in log.finished]
        session = Session(corpus, log)
        exact = _wants_exact(plan)
        _work(plan, todo, lambda: LocalLink(session, exact=exact), progress)


def _stopped(plan: Plan, session: Session, ids: Sequence[int]) -> StoppedError:
    done = sum(session.finished(i) for i in ids)
    kept = "; go on with --resume" if plan.output is not None else "; --output would have kept them"
    return StoppedError(f"interrupted after {done:,} of {len(ids):,} sentences{kept}")
