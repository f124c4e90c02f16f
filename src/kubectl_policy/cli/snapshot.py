"""`snapshot`: all manifests, or of a cluster all that matters, in one file of which questions can be asked later."""

import sys
from typing import Annotated, Final

from kubectl_policy.cli.options import Call, command
from kubectl_policy.cli.parameters import Option
from kubectl_policy.cli.remarks import mention_the_rest
from kubectl_policy.errors import UsageError

_STDOUT: Final = "-"


@command()
def snapshot(
    call: Call,
    *,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="The file to write, or - for standard output.")
    ] = "",
    redact: Annotated[
        bool, Option("--redact", help="Take out what is set in policies and elsewhere; names and references stay.")
    ] = False,
) -> int:
    """Write what questions need to know into one file.

    Of a cluster that is every policy, Gateway and route, and what belongs to them. The file is compressed, holds no
    data of Secrets, and says what could not be read. `--offline FILE` answers from it as from what it was made of. With
    --redact it can be shown to others: texts in specs are placeholders, and what is attached to what can still be told.

    \b
    Examples:
      kubectl policy snapshot -o cluster.snapshot.gz
      kubectl policy snapshot -o tree.snapshot.gz --offline manifests/
      kubectl policy snapshot -o - --redact --offline manifests/ | ssh host 'cat > cluster.snapshot.gz'
      kubectl policy describe httproute/baker -n baker --offline cluster.snapshot.gz
    """
    if not output:
        raise UsageError("it is not said where to write the snapshot", "add -o FILE, or -o - for standard output")
    if output == _STDOUT and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("a snapshot is compressed, and nothing for a terminal", "add -o FILE, or pipe it elsewhere")
    if call.among:
        raise UsageError("a snapshot is of one cluster", "name one --context")
    if call.paths and call.namespace:
        raise UsageError("a snapshot of manifests holds all of them", "leave out --namespace")
    analysis = call.read(whole=True)
    from datetime import UTC, datetime

    from kubectl_policy import __version__
    from kubectl_policy.cli import terminal
    from kubectl_policy.redaction import Redaction
    from kubectl_policy.render.words.names import count
    from kubectl_policy.sources.snapshot import Header, packed, write

    header = Header(
        taken=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        version=f"kubectl-policy {__version__}",
        redacted=redact,
        **_place(call),
    )
    taken = analysis.snapshot
    parts = packed(taken, header, Redaction(analysis.registry).redacted if redact else None)
    if output == _STDOUT:
        # What nobody reads is not made.
        all(map(terminal.write, filter(None, parts)))
    else:
        write(output, parts)
    unread = f"; {count(len(taken.gaps), 'thing')} could not be read" if taken.gaps else ""
    terminal.complain(f"{count(len(taken.resources), 'object')} in the snapshot{unread}")
    mention_the_rest(analysis)
    return 0


def _place(call: Call) -> dict[str, str]:
    """What is known of where the state comes from, as a header says it."""
    if call.paths:
        return {"cluster": call.cluster}
    access = call.live.access
    return {"cluster": access.cluster, "context": access.context, "server": call.live.version}
