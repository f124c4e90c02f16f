"""Start the process of `kubectl-policy` or `python -m kubectl_policy`, in which an interrupt is silent."""

import os
import sys

from kubectl_policy.errors import INTERRUPTED


def main() -> None:
    """Run the command that the process was started with, and end the process.

    Nothing is imported before interrupts are handled. The garbage collector is off, and the process ends without
    tidying up: a large input then takes half the time, and no reference cycles are worth collecting.
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
            # The reader may have closed the pipe.
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    os._exit(code)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
