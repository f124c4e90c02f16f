"""Where the process starts, as `kubectl-policy` or `python -m kubectl_policy`: from here on an interrupt is silent."""

import os
import sys

from kubectl_policy.errors import INTERRUPTED


def main() -> None:
    """Run the command that the process was started with, and end the process.

    Nothing is imported before somebody listens for an interrupt. Nothing here lives in reference cycles that are worth
    collecting, and what was loaded needs no tidying up: leaving both out halves the time that a large input takes.
    """
    try:
        import gc  # noqa: PLC0415 (see above)
        import signal  # noqa: PLC0415 (see above)
        from contextlib import suppress  # noqa: PLC0415 (see above)

        # Where interrupts are ignored, as in the background of a shell, they stay so.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)
        gc.disable()
        if sys.argv[1:2] == ["__complete"]:
            from kubectl_policy.cli.completion.entry import answer  # noqa: PLC0415 (see above)

            answer(sys.argv[2:])
        from kubectl_policy.cli import program_name, run  # noqa: PLC0415 (see above)

        code = run(sys.argv[1:], program_name(sys.argv[0]))
        for stream in (sys.stdout, sys.stderr):
            # A reader that has gone away wants no complaint, and there is nobody left to complain to.
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    os._exit(code)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
