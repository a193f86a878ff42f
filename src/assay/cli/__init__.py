# SPDX-License-Identifier: Apache-2.0
"""The command line: arguments in, exit code out. The only place that prints and exits.

One module per command; it is imported when the command runs, so that `assay --help` stays quick.
"""

from __future__ import annotations

# Nothing but what Python has loaded already: Ctrl-C before `main` would be answered by Python.
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `assay` and exit: 0 done, 1 finding, 2 wrong usage or input, 3 our fault, 130 stopped."""
    try:
        # Matrices here are small: threads of the linear algebra cost more than they bring, and
        # --jobs is how work is spread. Has to be said before numpy is imported.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        _replace_closed_streams()
        _make_output_take_all()
        code = run(arguments)
    except KeyboardInterrupt:  # before the command began, while modules were being imported
        code = _interrupted()
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run `assay` with these arguments and give back its exit code."""
    import errno

    from assay.cli import small

    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        text = small.answer(given)
        if text is None:
            return _invoked(given)
        sys.stdout.write(text)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # The reader of our output went away (`assay ... | head`): nobody is left to be told.
        _forget_output()
        return 0
    except OSError as error:
        # Readers and writers of files have errors of their own; what is left is our output, which
        # has no name, or a place that could not even be looked at.
        if error.filename is not None:
            why = f"{_shown(error.filename)} cannot be used ({error.strerror})"
            return _say(f"{why}; check its name, its owner and its mode (ls -l)", 2)
        _forget_output()
        full = error.errno == errno.ENOSPC
        why = "the disk is full" if full else (error.strerror or str(error))
        return _say(f"the output cannot be written ({why}); send it elsewhere, or make room", 2)
    except MemoryError:
        return _say("out of memory; use --interval poisson, which does not keep rows", 2)
    except Exception as error:  # the last line of defence: no traceback for users
        if os.environ.get("ASSAY_TRACEBACK"):
            raise
        kind = type(error).__name__
        return _say(f"internal error: {kind}: {error}; ASSAY_TRACEBACK=1 shows where", 3)
    return 0


def _invoked(given: list[str]) -> int:
    """Run the command that click finds for these arguments."""
    import shlex

    import click

    from assay.cli.root import root
    from assay.core.errors import AssayError

    try:
        if "_ASSAY_COMPLETE" in os.environ:  # the shell asks what could come next
            root.main(args=given, prog_name="assay", standalone_mode=False)
        # Not `main`, which says things of its own when interrupted or when a pipe closes.
        with root.make_context("assay", given, obj=shlex.join(["assay", *given])) as context:
            root.invoke(context)
    except AssayError as error:
        return _say(str(error), error.exit_code)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        return _say(_usage(error), 2)
    except click.Abort:
        return _interrupted()
    return 0


def _usage(error: object) -> str:
    import click

    assert isinstance(error, click.ClickException)
    context = getattr(error, "ctx", None)
    help_hint = f"; see '{context.command_path} --help'" if context is not None else ""
    return " ".join(error.format_message().split()).rstrip(".") + help_hint


def _replace_closed_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: nobody wants to be told
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if sys.stdin is None:  # closed too: whoever reads from it finds nothing
        import io

        sys.stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _make_output_take_all() -> None:
    """Let standard output take every character, also where the locale has not heard of it.

    Files and pipes get UTF-8, as everything we write has. What a terminal (or an encoding that was
    asked for) lacks is shown as a question mark. Python does that for standard error by itself.
    """
    import io

    output = sys.stdout
    if isinstance(output, io.TextIOWrapper) and not output.encoding.lower().startswith("utf"):
        if output.isatty() or os.environ.get("PYTHONIOENCODING"):
            output.reconfigure(errors="replace")
        else:
            output.reconfigure(encoding="utf-8")


def _forget_output() -> None:
    """Drop what standard output still holds, so that Python does not try again while it exits."""
    from contextlib import suppress

    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    # A run may have been saved, or a verdict given, a moment before.
    return _say("interrupted; nothing is left half-written", 130)


def _shown(filename: object) -> str:
    return os.fsdecode(filename) if isinstance(filename, (str, bytes)) else str(filename)


def _say(message: str, code: int) -> int:
    from contextlib import suppress

    with suppress(OSError):  # a full disk behind standard error does not change the exit code
        print(f"assay: {one_line(message)}", file=sys.stderr)
    return code


def one_line(message: str) -> str:
    """The message on one line that steers no terminal, whatever names and ids it quotes."""
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
