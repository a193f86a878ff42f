# SPDX-License-Identifier: Apache-2.0
"""Agents where SimulEval itself is installed: they import it, not what stands for it.

A package of that name, as small as an agent needs, is put before everything else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

LIVE = Path(__file__).parents[1] / "examples" / "simul" / "live"

PACKAGE = {
    "__init__.py": "",
    "utils/__init__.py": """
        from simuleval.utils.agent import EVALUATION_SYSTEM_LIST

        def entrypoint(cls):
            EVALUATION_SYSTEM_LIST.append(cls)
            return cls
    """,
    "utils/agent.py": "EVALUATION_SYSTEM_LIST = []",
    "data/__init__.py": "",
    "data/segments.py": """
        class Segment:
            is_empty = False

            def __init__(self, index=0, content="", finished=False, tgt_lang="nobody said so"):
                self.index, self.content = index, content
                self.finished, self.tgt_lang = finished, tgt_lang

        class TextSegment(Segment):
            pass

        class EmptySegment(Segment):
            is_empty = True
    """,
    "agents/__init__.py": """
        from simuleval.data.segments import EmptySegment, TextSegment

        class TextToTextAgent:
            source_type = target_type = "text"

            def __init__(self, args):
                self.reset()

            @classmethod
            def from_args(cls, args):
                return cls(args)

            def reset(self):
                self.source = []

            def pushpop(self, segment):
                if not isinstance(segment, (TextSegment, EmptySegment)):
                    raise NotImplementedError(type(segment))
                assert segment.tgt_lang is None
                if not segment.is_empty:
                    self.source.append(segment.content)
                return self.policy(segment.finished)
    """,
}

AGENT = """
    from simuleval.agents import TextToTextAgent
    from simuleval.data.segments import EmptySegment, TextSegment
    from simuleval.utils import entrypoint

    class Other(TextToTextAgent):
        def policy(self, finished):
            raise AssertionError("this one is not marked")

    @entrypoint
    class Marked(TextToTextAgent):
        def policy(self, finished):
            if finished:
                return TextSegment(content=" ".join(self.source), finished=True)
            return EmptySegment()
"""


def test_agents_get_the_segments_of_the_package_that_they_import(tmp_path: Path) -> None:
    for name, content in PACKAGE.items():
        path = tmp_path / "there" / "simuleval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content))
    (tmp_path / "agent.py").write_text(textwrap.dedent(AGENT))
    out, source = tmp_path / "out", str(LIVE / "source.txt")
    argv = ["--agent", str(tmp_path / "agent.py"), "--source", source, "--target", source]
    before = os.pathsep.join([str(tmp_path / "there"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "assay", "simul", "run", *argv, "--output", str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": before},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["BLEU"] == 100.0
    assert (out / "text").read_text() == Path(source).read_text()
