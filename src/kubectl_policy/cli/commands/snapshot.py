"""`snapshot`: manifests, or the relevant objects of a cluster, in one file that `--offline` reads."""

import sys
from typing import Annotated, Final

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import OutputOption
from kubectl_policy.cli.remarks import mention_remaining_problems
from kubectl_policy.errors import UsageError

_STDOUT: Final = "-"


@shared_options()
def snapshot(
    call: CommandCall,
    *,
    output: Annotated[
        str, OutputOption("--output", "-o", metavar="FILE", help="The file to write, or - for standard output.")
    ] = "",
    redact: Annotated[
        bool, OutputOption("--redact", help="Replace the values in specs; names and references stay.")
    ] = False,
) -> int:
    """Save the cluster state to a file for offline use.

    Saves all manifests or, of a cluster, all policies, Gateways and routes and the objects that belong to them. The
    file is compressed, has no data of Secrets, and records what could not be read. `--offline FILE` gives the same
    answers as the original. With --redact you can share the file: texts in specs are replaced by placeholders, and the
    attachment of policies can still be computed.

    \b
    Examples:
      kubectl policy snapshot -o cluster.snapshot.gz
      kubectl policy snapshot -o tree.snapshot.gz --offline manifests/
      kubectl policy snapshot -o - --redact --offline manifests/ | ssh host 'cat > cluster.snapshot.gz'
      kubectl policy describe httproute/baker -n baker --offline cluster.snapshot.gz
    """
    if not output:
        raise UsageError("the file to write the snapshot to is missing", "add -o FILE, or -o - for standard output")
    if output == _STDOUT and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("a snapshot cannot be shown in a terminal", "add -o FILE, or pipe it elsewhere")
    if call.collected is not None:
        raise UsageError("a snapshot is of one cluster", "name one --context")
    if call.paths and call.namespace:
        raise UsageError("a snapshot of manifests holds all of them", "leave out --namespace")
    analysis = call.read(whole=True)
    from datetime import UTC, datetime

    from kubectl_policy import __version__
    from kubectl_policy.cli import terminal
    from kubectl_policy.redaction import Redaction
    from kubectl_policy.render.wording.names import count
    from kubectl_policy.sources.snapshot import Header, pack, write

    header = Header(
        taken=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        version=f"kubectl-policy {__version__}",
        redacted=redact,
        **_origin(call),
    )
    taken = analysis.snapshot
    parts = pack(taken, header, Redaction(analysis.registry).redact if redact else None)
    if output == _STDOUT:
        # A closed pipe ends the snapshot.
        all(map(terminal.write, filter(None, parts)))
    else:
        write(output, parts)
    unread = f"; {count(len(taken.gaps), 'thing')} could not be read" if taken.gaps else ""
    terminal.write_remarks(f"{count(len(taken.resources), 'object')} in the snapshot{unread}")
    mention_remaining_problems(analysis)
    return 0


def _origin(call: CommandCall) -> dict[str, str]:
    """Return the fields of the header that name the cluster."""
    if call.paths:
        return {"cluster": call.cluster}
    access, cluster = call.live.access, call.live.cluster
    version = cluster.version() if cluster else ""
    return {"cluster": access.cluster, "context": access.context, "server": version}
