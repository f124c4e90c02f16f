"""`describe`: what affects objects, or what policies affect."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.connections import describe_connection
from kubectl_policy.cli.describing import DESCRIPTIONS, OBJECT_DESCRIPTION, describe_one
from kubectl_policy.cli.options import (
    AllowIncomplete,
    Fields,
    NamedFiles,
    OutputOption,
    PolicyKinds,
    SelectionOption,
    ShowAll,
    exit_code,
)
from kubectl_policy.cli.remarks import mention_namespaces
from kubectl_policy.cli.syntax import split_objects
from kubectl_policy.cli.terminal import write_remarks
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Origin
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.questions.shared.fields import WrittenValue
    from kubectl_policy.sources.history import Authors


@shared_options(OBJECT_DESCRIPTION, watches=True)
def describe(
    call: CommandCall,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME... | TYPE NAME...", help="The objects to describe.")
    ] = None,
    *,
    filename: NamedFiles = None,
    section: Annotated[str, SelectionOption(metavar="NAME", help="Describe one listener, rule or port.")] = "",
    kind: PolicyKinds = None,
    field: Fields = None,
    to: Annotated[
        str, SelectionOption("--to", metavar="TYPE/NAME|IP", help="Ask whether the object may connect to this one.")
    ] = "",
    from_: Annotated[
        str, SelectionOption("--from", metavar="TYPE/NAME|IP", help="Ask whether this one may connect to the object.")
    ] = "",
    port: Annotated[
        str, SelectionOption("--port", metavar="PORT[/PROTOCOL]", help="The port for --to and --from, also by name.")
    ] = "",
    blame: Annotated[
        bool, OutputOption("--blame", help="Show who wrote each setting, from managedFields or git.")
    ] = False,
    show_all: ShowAll = False,
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Show what affects an object, or what a policy affects.

    For an object: first a summary of the settings in force, then each setting with its value, the policy that sets it,
    the policies that it overrides, and policies that do not apply although one might expect them to. For a policy:
    whether it is enforced, and on which objects.

    \b
    Examples:
      kubectl policy describe httproute/baker -n baker --offline manifests/
      kubectl policy describe httproute/baker -n baker --blame --offline manifests/
      kubectl policy describe gateway edge -n infra --section https --offline manifests/
      kubectl policy describe httproute/baker -n baker --kind timeoutpolicy --offline manifests/
      kubectl policy describe -f route.yaml -n baker --offline manifests/
      kubectl policy describe pod/web -n shop --to svc/cart --port 80 --offline manifests/
      kubectl policy describe retrypolicy/resilience -n baker -o yaml --offline - < all.yaml
    """
    if objects and filename:
        raise UsageError("objects are named as arguments or by --filename, not both", "leave out one of the two")
    pairs = [] if filename else split_objects("describe", objects or [])
    analysis = call.read()
    from kubectl_policy.cli.states import objects_in
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.description import Descriptions, focus_on
    from kubectl_policy.questions.shared.selection import find
    from kubectl_policy.sources.history import Authors

    if to or from_ or port:
        return describe_connection(call, analysis, pairs, (from_, to, port), allow_incomplete=allow_incomplete)
    named = (find(analysis, type_name, name, call.in_namespace) for type_name, name in pairs)
    subjects = objects_in(call, analysis, filename) if filename else tuple(dict.fromkeys(named))
    focus = focus_on(analysis, kind or (), field or ())
    authors = Authors() if blame else None
    author_of = partial(_author, analysis, authors) if authors else None
    answers = [describe_one(analysis, NodeRef(subject, section), focus, call.lines, author_of) for subject in subjects]
    several = Descriptions(tuple(description for _, description in answers))
    renderers, answer = answers[0] if len(answers) == 1 else (DESCRIPTIONS, several)
    call.show(renderers, answer, analysis, problems=answer.problems, unseen=answer.unseen, everything=show_all)
    mention_namespaces(analysis, subjects)
    if authors:
        write_remarks(*authors.complaints)
    is_unknown = any(item.unknown for item in several.items)
    return exit_code(incomplete=is_unknown and not allow_incomplete)


def _author(
    analysis: "Analysis", authors: "Authors", placed: "WrittenValue", origin: "Origin | None"
) -> "Authorship | None":
    """Return the author of a setting that is written at `origin`: from `managedFields`, else from git."""
    from kubectl_policy.model.authorship import field_owner

    owner = field_owner(analysis.index.defaulted(placed.source.object), placed.declared_in.steps)
    return owner or (authors.of(origin) if origin else None)
