"""`blast-radius`: what an object touches, and what deleting it would change."""

from typing import Annotated

import typer

from kubectl_policy.cli.changes import ChangeOutput, show
from kubectl_policy.cli.options import (
    AllowIncomplete,
    Color,
    Complete,
    ControllerSettings,
    Namespace,
    Offline,
    Profiles,
    mention_the_rest,
    read,
    repeated,
    split_object,
)
from kubectl_policy.errors import FOUND, INCOMPLETE


def blast_radius(  # noqa: PLR0913 (every option of the command is a parameter)
    context: typer.Context,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object that might be deleted.")
    ] = None,
    *,
    offline: Offline = None,
    namespace: Namespace = "default",
    owner: Annotated[
        str,
        typer.Option(
            metavar="KEY", help="Count by owner: a label or annotation of the objects, or of their Namespace."
        ),
    ] = "",
    output: ChangeOutput = "tree",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if deleting it would change anything else.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
    profiles: Profiles = None,
    setting: ControllerSettings = None,
    complete: Complete = False,
    color: Color = "auto",
) -> int:
    """Show what deleting an object would change.

    Nothing is deleted. For a policy: the objects that it affects, those where others beat it, and what each would have
    instead. For a Gateway, a route, a Service, a Namespace, a ReferenceGrant or anything else: what would lose its
    parents, its targets, its traffic and its settings. Exits with 4 if not all could be seen that matters.

    \b
    Examples:
      kubectl policy blast-radius retrypolicy/resilience -n baker --offline manifests/
      kubectl policy blast-radius gateway/edge -n infra --owner team --offline manifests/
      kubectl policy blast-radius namespace/pastry -o json --offline all.yaml
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    type_name, name = split_object("blast-radius", objects or [])
    analysis = read(offline, profiles, setting, namespace, complete=complete)
    from kubectl_policy.cli.config import owner_key  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.changes.blast_radius import blast_radius as ask  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see options.read)

    answer = ask(analysis, find(analysis.index, type_name, name, namespace), owner or owner_key())
    options = repeated(offline=offline, profiles=profiles, setting=setting) + ["--complete"] * complete
    show(answer, output, color, (context.find_root().info_name or "", *options))
    unseen = answer.difference.unseen
    mention_the_rest(analysis, unseen=unseen if output in {"tree", "yaml", "json"} else ())
    if unseen and not allow_incomplete:
        return INCOMPLETE
    return FOUND if exit_code and answer.changes else 0
