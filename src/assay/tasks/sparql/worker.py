# SPDX-License-Identifier: Apache-2.0
"""A process that holds a graph and answers queries until it is told to stop, or killed.

`python -m assay.tasks.sparql.worker OPTIONS` with the options as JSON. Frames go both ways: four
bytes of length, then JSON. In: a query. Out: first a `Reply` that says the graph is open and
whether it holds anything (or why it is not), then one `Reply` per query. A query cannot be stopped
from inside the process, which is why there is a process to kill. It ends by itself when nobody is
left who would; should it be too busy to notice, an alarm ends it.
"""

from __future__ import annotations

import codecs
import gzip
import os
import select
import signal
import struct
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from assay.tasks.sparql.replies import PREFIXES, Reply, term_kind

LENGTH = struct.Struct("<I")


class WorkerOptions(msgspec.Struct):
    """What a worker opens: a graph file to hold in memory, or a store on disk.

    With both, the worker builds the store from the graph, and ends. `memory` in megabytes, `alarm`
    in seconds, 0 for none.
    """

    graph: str | None = None
    store: str | None = None
    rows: int = 1_000_000
    memory: int = 2_000
    alarm: float = 0.0


def main(given: str) -> None:
    """Open the graph, then answer."""
    options = msgspec.json.decode(given, type=WorkerOptions)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    encoder = msgspec.json.Encoder()

    def send(reply: Reply) -> None:
        data = encoder.encode(reply)
        sink.write(LENGTH.pack(len(data)) + data)
        sink.flush()

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        store = open_store(options)
    except SyntaxError as error:
        send(Reply("syntax", f"{error.lineno or 0}:{error.msg}"))
        return
    except (OSError, ValueError, EOFError, RuntimeError, zlib.error) as error:
        send(Reply("transport", str(error)))
        return
    limit_memory(options.memory)
    limit_files(options.store)
    some = next(store.quads_for_pattern(None, None, None), None)  # to count all would take long
    send(Reply(boolean=some is not None))
    if options.graph is not None and options.store is not None:
        return
    while (head := source.read(LENGTH.size)) and len(head) == LENGTH.size:
        query = source.read(LENGTH.unpack(head)[0]).decode("utf-8", "surrogatepass")
        set_alarm(options.alarm)
        reply = answer(store, query, options.rows)
        set_alarm(0)
        send(reply)


def end_with_parent() -> None:
    """End the process as soon as nobody holds the other end of its input, whatever it is doing."""
    if hasattr(select, "poll"):  # not on Windows
        watched = select.poll()
        watched.register(sys.stdin.fileno(), 0)  # hanging up is reported even if nothing is wanted
        watched.poll()
        os._exit(1)


def open_store(options: WorkerOptions) -> Any:
    """The store: read-only on disk, or in memory and filled from the graph file."""
    import pyoxigraph

    if options.graph is None:
        assert options.store is not None, "a graph or a store"
        return pyoxigraph.Store.read_only(options.store)
    store = pyoxigraph.Store(options.store) if options.store is not None else pyoxigraph.Store()
    path = Path(options.graph)
    name = path.name.removesuffix(".gz")
    extension = name.rpartition(".")[2]
    format = pyoxigraph.RdfFormat.from_extension(extension)
    if format is None or extension == "json":  # any JSON is JSON-LD, mostly without a triple
        raise ValueError(f"{path.name} is of no known format; name it .nt, .ttl, .nq or .trig")
    with _opened(path) as stream:
        store.bulk_load(input=stream, format=format)
    if options.store is not None:
        store.optimize()
        store.flush()
    return store


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a graph file, unpacked, without the mark that some editors put first."""
    with path.open("rb") as file:
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        stream: Any = gzip.open(file) if packed else file  # noqa: SIM115  # the file is closed here
        if stream.peek(3)[:3] == codecs.BOM_UTF8:
            stream.read(3)
        yield stream


def set_alarm(seconds: float) -> None:
    """End the process after this time, without any of its own code having to run; 0 for never."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_REAL, seconds)


def limit_memory(megabytes: int) -> None:
    """Let the process grow by this much from here, and no further."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc").exists() else 0
    limit = pages * resource.getpagesize() + (megabytes << 20)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def limit_files(store: str | None) -> None:
    """Let the process open nothing from here: no file, and no connection, whatever a query asks.

    Queries that call other servers are refused before they come here; this is for one that is not
    known as such. A store of which some files are still to be opened stays free to do it.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return
    if store is not None:
        held = len(os.listdir("/dev/fd")) if Path("/dev/fd").exists() else 0
        if len(list(Path(store).glob("*.sst"))) > held - 4:  # three streams, and /dev/fd itself
            return
    # Standard input is the one that is left: it has to be watched, and takes the only place.
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, 1))


def answer(store: Any, query: str, rows: int) -> Reply:
    """Run one query, as far as its first `rows` rows."""
    import pyoxigraph

    try:
        found = store.query(query, prefixes=PREFIXES, use_default_graph_as_union=True)
        if isinstance(found, pyoxigraph.QueryBoolean):
            return Reply(boolean=bool(found))
        if not isinstance(found, pyoxigraph.QuerySolutions):
            return Reply("refused", "not SELECT or ASK")
        if len(found.variables) != 1:
            return Reply("several variables", f"{len(found.variables)} variables")
        return _values(found, rows)
    except SyntaxError as error:
        return Reply("syntax", str(error))
    except MemoryError:
        return Reply("too large", "out of memory")
    except (ValueError, OSError, RuntimeError) as error:
        return Reply("syntax", str(error))


def _values(found: Any, rows: int) -> Reply:
    import pyoxigraph

    values: list[str] = []
    kinds: list[str] = []
    for row in found:
        term = row[0]
        if term is None:
            continue
        if len(values) >= rows:
            return Reply("too large", f"more than {rows:,} rows")
        if isinstance(term, pyoxigraph.NamedNode):
            kinds.append("i")
            values.append(term.value)
        elif isinstance(term, pyoxigraph.Literal):
            kinds.append(term_kind(term.datatype.value))
            values.append(term.value)
        elif isinstance(term, pyoxigraph.BlankNode):
            kinds.append("b")
            values.append(term.value)
        else:
            return Reply("refused", "a triple as an answer")
    return Reply(values=values, kinds="".join(kinds))


if __name__ == "__main__":
    main(sys.argv[1])
