# SPDX-License-Identifier: Apache-2.0
"""The server of the 2020 protocol as small as tornado allows: what ours is measured against.

Text only, no checks, no log, no files: less work per request than ours does.
`python -m benchmarks.simul_tornado SOURCE REFERENCES` prints its port and runs until it is killed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import tornado.httpserver
import tornado.netutil
import tornado.web

END = "</s>"


class State:
    """Words and positions."""

    def __init__(self, sources: list[list[str]]) -> None:
        self.sources = sources
        self.reset()

    def reset(self) -> None:
        """Forget positions and words."""
        self.positions = [0] * len(self.sources)
        self.words: list[list[str]] = [[] for _ in self.sources]
        self.delays: list[list[int]] = [[] for _ in self.sources]


class Handler(tornado.web.RequestHandler):
    """What all handlers have."""

    def initialize(self, state: State) -> None:
        """Take the state."""
        self.state = state


class Root(Handler):
    """`/`."""

    def get(self) -> None:
        """How many there are."""
        self.write(json.dumps({"num_sentences": len(self.state.sources)}))

    def post(self) -> None:
        """Forget."""
        self.state.reset()


class Source(Handler):
    """`/src`."""

    def get(self) -> None:
        """The next word."""
        index = int(self.get_argument("sent_id"))
        words, at = self.state.sources[index], self.state.positions[index]
        ended = at >= len(words)
        self.state.positions[index] = len(words) + 1 if ended else at + 1
        segment = END if ended else words[at]
        self.write(json.dumps({"sent_id": index, "segment_id": at, "segment": segment}))


class Words(Handler):
    """`/hypo`."""

    def put(self) -> None:
        """Take words."""
        index = int(self.get_argument("sent_id"))
        words = self.request.body.decode().strip().split()
        self.state.words[index] += words
        self.state.delays[index] += [self.state.positions[index]] * len(words)


def application(sources: list[list[str]]) -> Any:
    """The routes."""
    given = {"state": State(sources)}
    return tornado.web.Application(
        [("/", Root, given), ("/src", Source, given), ("/hypo", Words, given)]
    )


async def main(source: str) -> None:
    """Serve until killed."""
    sources = [line.split() for line in Path(source).read_text(encoding="utf-8").splitlines()]
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    tornado.httpserver.HTTPServer(application(sources)).add_sockets(sockets)
    print(sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
