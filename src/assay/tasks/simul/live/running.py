# SPDX-License-Identifier: Apache-2.0
"""A whole run, in process or against a server, in threads or processes, with its scores."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.errors import InputError, StoppedError, UsageError
from assay.tasks.simul.events import EventLog, Header, Stream, read_events
from assay.tasks.simul.live import results
from assay.tasks.simul.live.corpus import Corpus, lines
from assay.tasks.simul.live.drivers import Driver, driver_for
from assay.tasks.simul.live.links import HttpLink, Link, LocalLink
from assay.tasks.simul.live.outputs import Recorder, measured, write_instances, write_scores
from assay.tasks.simul.live.processes import in_processes
from assay.tasks.simul.live.session import Session
from assay.tasks.simul.live.sessions import LOG, check_stream, keep_aside
from assay.tasks.simul.live.settings import Plan, Server
from assay.tasks.simul.live.voice import Voice, finished_streams
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
                session = _restored(corpus, folder, plan)
            else:
                exact = _wants_exact(plan)
                _work(plan, todo, lambda: LocalLink(session, exact=exact), progress)
        except KeyboardInterrupt:
            if plan.jobs > 1 and folder is not None:  # what processes did is in the log alone
                session = _restored(corpus, folder, plan)
            raise _stopped(plan, session, ids) from None
        finally:
            if log is not None:
                log.shut()
        if plan.shard is not None and plan.output is not None:
            say(f"shard {plan.shard[0]}/{plan.shard[1]} is done; join all with 'assay simul merge'")
            return None
        if not plan.scoring:
            return None
        return _scored(plan, session, ids, folder, say)


def _scored(
    plan: Plan, session: Session, ids: Sequence[int], folder: Path | None, say: Say
) -> dict[str, Any]:
    """The scores, and the files where there is a folder for them."""
    header = _header(session.corpus, plan)
    streams: Sequence[Stream] = ()
    if folder is not None:
        streams = read_events(folder / LOG)[1]
    elif isinstance(session.log, Recorder):
        streams = session.log.streams
    chosen = {str(i) for i in ids}
    streams = sorted((s for s in streams if s.id in chosen), key=lambda s: int(s.id))
    output = None if plan.output is None else Path(plan.output)
    names: list[str] = []
    scores: dict[str, float | None] = {}
    if plan.target == "text":
        found = results.tally(session, ids, allow_missing=True)
        scores = results.scores(found, plan.tokenizer)
        if output is not None:
            results.write(output, found, scores)
            names += ["text", "delay", "scores"]
    if plan.measures is not None:
        scores = measured(header, streams, plan.measures)
        if output is not None:
            names.append(write_scores(output, scores))
    if output is not None:
        unit = "word" if plan.measures is None else plan.measures.unit
        names += write_instances(output, header, streams, by_unit=unit)
        say(f"{', '.join(names)} and {LOG} written to {output}")
    return scores


@contextmanager
def _workplace(plan: Plan) -> Iterator[Path | None]:
    """The output folder; where there is none, processes still need a place for their log."""
    if plan.output is not None:
        yield Path(plan.output)
    elif plan.jobs > 1:
        with tempfile.TemporaryDirectory(prefix="assay-simul-") as folder:
            yield Path(folder)
    else:
        yield None


def _header(corpus: Corpus, plan: Plan) -> Header:
    return Header(corpus.kind, plan.target, "word")


def _opened(
    corpus: Corpus, folder: Path | None, plan: Plan, say: Say
) -> tuple[Session, EventLog | None]:
    if folder is None:
        recorder = None if plan.measures is None else Recorder()
        return Session(corpus, recorder, target=plan.target), None
    path = folder / LOG
    there = path.exists() and path.stat().st_size > 0
    if there and not plan.resume:
        say(f"the log that was in {folder} is now {keep_aside(path).name}")
        there = False
    log = EventLog(path, _header(corpus, plan), resume=True, held=True)
    session = _restored(corpus, folder, plan) if there else _session(corpus, folder, plan)
    session.log = log
    return session, log


def _session(corpus: Corpus, folder: Path, plan: Plan) -> Session:
    return Session(corpus, target=plan.target, voice=Voice(folder))


def _restored(corpus: Corpus, folder: Path, plan: Plan) -> Session:
    """A session that knows what the log holds of finished sentences."""
    path = folder / LOG
    header, streams = read_events(path)
    for stream in streams:
        check_stream(corpus, stream.id, stream.reference, path)
    session = _session(corpus, folder, plan)
    session.restore(finished_streams(folder, header, streams))
    return session


def _against_server(
    plan: Plan, server: Server, *, scores: bool, say: Say, progress: Progress
) -> dict[str, Any] | None:
    link = _linked(server)
    try:
        if plan.reset:
            link.reset()
        if plan.choice.is_made or plan.choice.remote:
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
    languages = _languages(plan)
    if plan.choice.remote is not None:
        from assay.tasks.simul.live.remote import RemoteAgent

        host, port = plan.choice.remote
        probe = RemoteAgent(host, port, 1)
        try:
            probe.about()
        finally:
            probe.close()
        return lambda: RemoteAgent(host, port, plan.max_steps, plan.segment_ms, languages)
    found = plan.choice.load()
    args = plan.choice.arguments(found)
    limits = {"limit": plan.max_steps, "segment_ms": plan.segment_ms}
    return driver_for(found, args, **limits, languages=languages)


def _languages(plan: Plan) -> Sequence[str]:
    """The target language of each sentence, where there is a file of them."""
    if plan.languages is None:
        return ()
    if plan.data is None:
        raise UsageError("--tgt-lang goes with a run in process, without --port")
    found, count = lines(plan.languages), len(plan.data.load())
    if len(found) != count:
        raise InputError(
            f"names {len(found):,} languages for {count:,} sentences",
            path=plan.languages,
            hint="write one per line",
        )
    return found


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
    folder = Path(plan.output)
    with EventLog(folder / LOG, _header(corpus, plan), resume=True, held=True) as log:
        session = _restored(corpus, folder, plan)
        session.log = log
        todo = [i for i in plan.ids(len(corpus)) if not session.finished(i)]
        exact = _wants_exact(plan)
        _work(plan, todo, lambda: LocalLink(session, exact=exact), progress)


def _stopped(plan: Plan, session: Session, ids: Sequence[int]) -> StoppedError:
    done = sum(session.finished(i) for i in ids)
    kept = "; go on with --resume" if plan.output is not None else "; --output would have kept them"
    return StoppedError(f"interrupted after {done:,} of {len(ids):,} sentences{kept}")
