# SPDX-License-Identifier: Apache-2.0
"""Slips in the text of commands that are put right before they are parsed."""

from __future__ import annotations

import re

_TYPOGRAPHIC = str.maketrans("–—‐‑−“”„‘’", '-----"""\'\'')


def typography(text: str) -> str:
    """What word processors make of dashes and quotes, undone; continued lines joined; stripped.

    >>> typography("wc –l “a b”\\n")
    'wc -l "a b"'
    """
    text = text.strip().replace("\\\n", "")
    return text.translate(_TYPOGRAPHIC).removesuffix("\\").strip()


def brackets(text: str) -> str:
    """Brackets of find that somebody forgot to escape."""
    return re.sub(r"(?<= )([()])(?= |$)", r"\\\1", text)


_REFERENCE = (
    ("sudo", ""),
    ("/usr/bin/find", "find"),
    ("/bin/find", "find"),
    ("/usr/bin/grep", "grep"),
    ("/bin/rm", "rm"),
    ("/bin/mv", "mv"),
    ("/bin/echo", "echo"),
    ("'{}'", "{}"),
    ('"{}"', "{}"),
    ("-i{}", "-I {}"),
    ("-I{}", "-I {}"),
    ("-i%", "-I %"),
    (" [] ", " {} "),
    ("-L.", "-L"),
    ("-mitime", "-mtime"),
    ("-dev", "-xdev"),
    ("-regex-type", "-regextype"),
    (" ( ", " \\( "),
    (" ) ", " \\) "),
    ("-\\(", "\\("),
    ("-\\)", "\\)"),
    ('"\\)', '" \\)'),
    ("\\(-", "\\( -"),
    ("e\\)", "e \\)"),
    ("-\\!", "!"),
    ("–", "-"),
    ("—", "-"),
    ("“", '"'),
    ("”", '"'),
    ("‘", "'"),
    ("’", "'"),
    (" exec sed ", " -exec sed "),
    (" xargs -iname ", " xargs "),
    (" -chour +1 ", " -cmin 60 "),
    (" -target-directory ", " --target-directory="),
    ("- perm", "-perm"),
    (" perm", " -perm"),
    ("'-rd\\n' ", ""),
)
"""Plain replacements that the old program makes anywhere in the text, in this order."""


def reference(text: str) -> str:
    """The old program's repairs, for --compat nl2bash.

    >>> reference("$ sudo /bin/rm '{}'")
    'rm {}'
    """
    text = text.replace("\n", " ").strip()
    for old, new in _REFERENCE:
        text = text.replace(old, new)
    text = re.sub(r"-prin( |$)", "-print", text)
    text = text.strip()
    text = text.removeprefix("$ ").removeprefix("# ")
    if text.startswith(("$find ", "#find ")):
        text = text[1:]
    return text.removesuffix("\\").strip()


def words(text: str) -> str:
    """The words of a command that cannot be parsed, as the old program reads them.

    Brackets nest, and reading stops when the outermost closes: a command that begins with a
    bracket which is not a word of its own comes out empty.

    >>> words("for f in *;  do x"), words("(cd a; ls)"), words("( a ) b")
    ('for f in *; do x', '', '( a )')
    """
    held = text.split()
    if not held or not held[0].startswith("("):
        return " ".join(held)
    if held[0] != "(":
        return ""
    depth = 0
    for position, word in enumerate(held):
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return " ".join(held[: position + 1])
    return " ".join(held)
