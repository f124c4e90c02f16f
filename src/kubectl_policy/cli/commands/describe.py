"""`describe`: what affects objects, or what policies affect."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec.structs import replace

from kubectl_policy.cli.call import CommandCall, shared_options
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
from kubectl_policy.cli.remarks import at_field, at_fields, mention_namespaces
from kubectl_policy.cli.syntax import split_objects
from kubectl_policy.cli.terminal import write_remarks
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers
from kubectl_policy.render.output.text import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, Origin
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.questions.connections.connection import ConnectionDescription
    from kubectl_policy.questions.connections.endpoints import NamedEnd
    from kubectl_policy.questions.describe.description import Description, Descriptions, Focus
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.shared.fields import FindAuthor, WrittenValue
    from kubectl_policy.render.connections import connection
    from kubectl_policy.render.describe import headline, objects, policies
    from kubectl_policy.render.output import encoding
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.wording import headlines
    from kubectl_policy.sources import Lines
    from kubectl_policy.sources.history import Authors
else:
    headline, objects, policies = (
        LazyFunctions(f"kubectl_policy.render.describe.{name}") for name in ("headline", "objects", "policies")
    )
    connection = LazyFunctions("kubectl_policy.render.connections.connection")
    encoding = LazyFunctions("kubectl_policy.render.output.encoding")
    headlines = LazyFunctions("kubectl_policy.render.wording.headlines")

OBJECT_DESCRIPTION: Final["Renderers[ObjectDescription]"] = Renderers(
    kind="ObjectDescription",
    rows_suffice=True,
    headline=headline.object_headline,
    tree=objects.object_text,
    table=lambda answer, _: [objects.settings_of([answer], named=False)],
    names=lambda answer: answer.policies,
)
POLICY_DESCRIPTION: Final["Renderers[PolicyDescription]"] = Renderers(
    kind="PolicyDescription",
    rows_suffice=True,
    headline=headlines.policy_headline,
    tree=policies.policy_text,
    table=lambda answer, _: [policies.targets_of([answer])],
    names=lambda answer: dict.fromkeys(node.object for node in answer.affected),
)

CONNECTION_DESCRIPTION: Final["Renderers[ConnectionDescription]"] = Renderers(
    kind="ConnectionDescription",
    headline=connection.connection_headline,
    tree=connection.connection_text,
    table=connection.connection_table,
)


def _renderers_of(item: "Description") -> Renderers[Any]:
    from kubectl_policy.questions.describe.objects import ObjectDescription

    return OBJECT_DESCRIPTION if isinstance(item, ObjectDescription) else POLICY_DESCRIPTION


def _tables(answer: "Descriptions") -> "list[Table[Any]]":
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription

    of_objects = [item for item in answer.items if isinstance(item, ObjectDescription)]
    of_policies = [item for item in answer.items if isinstance(item, PolicyDescription)]
    return [objects.settings_of(of_objects, named=True), policies.targets_of(of_policies)]


# Several answers, one after another.
DESCRIPTIONS: Final["Renderers[Descriptions]"] = Renderers(
    kind="DescriptionList",
    rows_suffice=True,
    headline=lambda answer: " ".join(_renderers_of(item).headline(item) for item in answer.items),
    tree=lambda answer, view: tuple(
        line
        for index, item in enumerate(answer.items)
        for line in (*((Line(), Line()) if index else ()), *_renderers_of(item).tree(item, view))
    ),
    table=lambda answer, _: _tables(answer),
    names=lambda answer: dict.fromkeys(ref for item in answer.items for ref in _renderers_of(item).names(item)),
    special_document=lambda answer, context: encoding.envelope(
        "DescriptionList", {"items": [_renderers_of(item).document(item) for item in answer.items]}, context
    ),
)


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
        return _describe_connection(call, analysis, pairs, (from_, to, port), allow_incomplete=allow_incomplete)
    named = (find(analysis, type_name, name, call.in_namespace) for type_name, name in pairs)
    subjects = objects_in(call, analysis, filename) if filename else tuple(dict.fromkeys(named))
    focus = focus_on(analysis, kind or (), field or ())
    authors = Authors() if blame else None
    author_of = partial(_author, analysis, authors) if authors else None
    answers = [_describe(analysis, NodeRef(subject, section), focus, call.lines, author_of) for subject in subjects]
    several = Descriptions(tuple(description for _, description in answers))
    renderers, answer = answers[0] if len(answers) == 1 else (DESCRIPTIONS, several)
    call.show(renderers, answer, analysis, problems=answer.problems, unseen=answer.unseen, everything=show_all)
    mention_namespaces(analysis, subjects)
    if authors:
        write_remarks(*authors.complaints)
    is_unknown = any(item.unknown for item in several.items)
    return exit_code(incomplete=is_unknown and not allow_incomplete)


def _describe_connection(
    call: CommandCall,
    analysis: "Analysis",
    pairs: "Sequence[tuple[str, str]]",
    asked: tuple[str, str, str],
    *,
    allow_incomplete: bool,
) -> int:
    """Describe the connections between an object and another end."""
    from kubectl_policy.questions.connections.connection import PortQuery, describe_connection, with_rule_lines

    start, end, port = asked
    if bool(start) == bool(end):
        raise UsageError("a connection has two ends, and one of them is the object", "say --to or --from")
    if len(pairs) != 1:
        raise UsageError("a connection is asked of one object", "name it as TYPE/NAME")
    subject = _end(call, analysis, "/".join(pairs[0]))
    source, destination = (_end(call, analysis, start), subject) if start else (subject, _end(call, analysis, end))
    answer = describe_connection(analysis, source, destination, PortQuery.parse(port) if port else None)
    answer = with_rule_lines(answer, lambda origin, field: at_field(origin, field, call.lines))
    call.show(CONNECTION_DESCRIPTION, answer, analysis, unseen=answer.unseen)
    mention_namespaces(analysis, filter(None, (source.object, destination.object)))
    return exit_code(incomplete=answer.unknown and not allow_incomplete)


def _end(call: CommandCall, analysis: "Analysis", text: str) -> "NamedEnd":
    """Return the end of a connection that is named by `TYPE/NAME`, `TYPE/NAMESPACE/NAME`, or an IP address."""
    from kubectl_policy.questions.connections.endpoints import end_at_address, end_of
    from kubectl_policy.questions.shared.selection import find
    from kubectl_policy.topology.workloads.workload import parse_address

    address = parse_address(text)
    if address:
        return end_at_address(analysis, address)
    type_name, slash, name = text.partition("/")
    if not (slash and name):
        raise UsageError(
            f'"{text}" is neither TYPE/NAME nor an IP address', "for example: --to svc/cart, --to 10.0.0.1"
        )
    return end_of(analysis, find(analysis, type_name, name, call.in_namespace))


def _author(
    analysis: "Analysis", authors: "Authors", placed: "WrittenValue", origin: "Origin | None"
) -> "Authorship | None":
    """Return the author of a setting that is written at `origin`: from `managedFields`, else from git."""
    from kubectl_policy.model.authorship import field_owner

    owner = field_owner(analysis.index.defaulted(placed.source.object), placed.declared_in.steps)
    return owner or (authors.of(origin) if origin else None)


def _describe(
    analysis: "Analysis", node: "NodeRef", focus: "Focus", lines: "Lines", author_of: "FindAuthor | None"
) -> "tuple[Renderers[Any], ObjectDescription | PolicyDescription]":
    """Describe an object or a policy, with the lines of fields, and with their authors if they are asked for."""
    subject = node.object
    if analysis.registry.profile_of(subject.group_kind):
        if node.section:
            raise UsageError(f"{subject} is a policy, and policies have no sections", "leave out --section")
        if focus.kinds:
            raise UsageError(f"{subject} is a policy, and --kind is for other objects", "leave out --kind")
        from kubectl_policy.questions.describe.policies import describe_policy
        from kubectl_policy.questions.shared.fields import with_line

        policy = describe_policy(analysis, subject)
        return POLICY_DESCRIPTION, replace(
            policy,
            focus=focus,
            problems=at_fields(policy.problems, lines),
            all_fields=tuple(with_line(field, lines.locate, author_of) for field in policy.all_fields),
            reasons=at_fields(policy.reasons, lines, or_above=True),
        )
    from kubectl_policy.questions.describe.objects import describe, narrowed
    from kubectl_policy.questions.shared.in_force import with_lines

    answer = narrowed(describe(analysis, node), focus)
    return OBJECT_DESCRIPTION, replace(
        answer,
        problems=at_fields(answer.problems, lines),
        in_force=with_lines(answer.in_force, lines.locate, author_of),
        requests=replace(answer.requests, unattached=at_fields(answer.requests.unattached, lines)),
    )
