# SPDX-License-Identifier: Apache-2.0
"""Live runs: requests to the evaluation server.

It is held against one that is as small as tornado allows, with the same client; ours also checks
what it is asked and keeps a log. The loop around an agent in process is in `simul_tools`.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from benchmarks.harness import DATA, Case, Work

SENTENCES = [[f"w{i}x{j}" for j in range(15)] for i in range(400)]


def _files() -> Path:
    path = DATA / "simul-live.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(" ".join(words) + "\n" for words in SENTENCES), encoding="utf-8")
    return path


def _exchange(port: int) -> dict[str, int]:
    """Reads every sentence to its end and copies it, on one connection."""
    words = sent = 0
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for index, sentence in enumerate(SENTENCES):
            target = b"/src?sent_id=%d" % index
            while b"</s>" not in _ask(connection, b"GET", target, b""):
                words += 1
            for word in [*sentence, "</s>"]:
                _ask(connection, b"PUT", b"/hypo?sent_id=%d" % index, word.encode())
                sent += 1
    return {"read": words, "sent": sent}


def _ask(connection: socket.socket, method: bytes, target: bytes, body: bytes) -> bytes:
    head = b"%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    connection.sendall(head % (method, target, len(body)) + body)
    found = b""
    while b"\r\n\r\n" not in found:
        found += _more(connection)
    start, _, rest = found.partition(b"\r\n\r\n")
    if b" 200 " not in start[:16]:
        raise ConnectionError(start.decode())
    length = re.search(rb"(?i)content-length: (\d+)", start)
    while len(rest) < int(length[1] if length else 0):
        rest += _more(connection)
    return rest


def _more(connection: socket.socket) -> bytes:
    found = connection.recv(65536)
    if not found:
        raise ConnectionError("the server has closed the connection")
    return found


def _through(argv: list[str], port_of: Callable[[subprocess.Popen[str]], int]) -> Work:
    """Starts a server, asks it everything and stops it; its processor time counts as ours."""

    def work() -> dict[str, int]:
        command = [sys.executable, "-m", *argv]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as server:
            try:
                return _exchange(port_of(server))
            finally:
                server.kill()

    return work


def ours_server() -> Work:
    """`assay simul serve` with its log."""
    source = str(_files())
    output = tempfile.mkdtemp()
    files = ["--src-file", source, "--tgt-file", source, "--output", output]

    def port_of(server: subprocess.Popen[str]) -> int:
        line = _pipe(server.stderr).readline()
        return int(line.split("127.0.0.1:")[1].split(",")[0])

    return _through(["assay", "simul", "serve", *files, "--port", "0"], port_of)


def tornado_server() -> Work:
    """The smallest server that answers the same."""
    argv = ["benchmarks.simul_tornado", str(_files())]
    return _through(argv, lambda server: int(_pipe(server.stdout).readline()))


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


CASES = [
    Case(
        "simul: 12,800 requests to the evaluation server",
        "tornado",
        ours_server,
        tornado_server,
        must=2,
    ),
]
