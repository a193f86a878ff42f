# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks [NAME...] [--write FILE]`: all benchmarks, or those of these modules."""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import pkgutil
import platform
from pathlib import Path

import benchmarks
from benchmarks.harness import Case, Measured, measure

HEAD = "| workload | peer | peer s | ours s | ratio | must | peer MB | ours MB | limit MB |"


def main() -> int:
    """Measure, print as we go, and write a Markdown table if asked."""
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    modules = {n: importlib.import_module(f"benchmarks.{n}") for n in names if n[0] != "_"}
    known = [name for name, module in modules.items() if hasattr(module, "CASES")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table to this file")
    given = parser.parse_args()
    for name in given.names:
        if name not in known:
            parser.error(f"no benchmark {name}; there are {', '.join(known)}")
    # Installing compiles a package; a checkout does it at the first import, where it may write.
    compileall.compile_dir(Path(__file__).parent.parent / "src", quiet=1)
    cases: list[Case] = [c for name in given.names or known for c in modules[name].CASES]
    lines = [HEAD, "|---" * HEAD.count(" |") + "|"]
    print("\n".join(lines), flush=True)
    missed = []
    for case in cases:
        found = measure(case)
        lines.append(row(found))
        print(lines[-1], flush=True)
        if not found.reached:
            missed.append(case.title)
    if given.write is not None:
        where = f"{os.cpu_count()} cores, {processor()}, Python {platform.python_version()}"
        head = f"# Benchmarks\n\nProcessor seconds, best of the rounds, on {where}.\n\n"
        given.write.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    for title in missed:
        print(f"below the mark: {title}")
    return 1 if missed else 0


def processor() -> str:
    """What the processor is called, and whether it has instructions for SHA-256.

    Everything that is read is hashed, which takes four times as long without them.
    """
    name, sha = platform.machine(), ""
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return name
    for line in facts.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            name = value.strip()
        elif key.strip() == "flags":
            sha = " with SHA" if "sha_ni" in value.split() else " without SHA"
    return f"{name}{sha} instructions" if sha else name


def row(found: Measured) -> str:
    """One line of the table."""
    case = found.case
    limit = f"{case.memory:,.0f}" if case.memory is not None else ""
    return (
        f"| {case.title} | {case.peer_name} | {found.peer.seconds:.3f} | {found.ours.seconds:.3f} "
        f"| **{found.ratio:.1f}x** | {case.must:g}x | {found.peer.megabytes:,.0f} "
        f"| {found.ours.megabytes:,.0f} | {limit} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
