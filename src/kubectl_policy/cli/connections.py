"""Connections on the command line: their ends as they are named, and the verdict on one of them."""

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.cli.options import exit_code
from kubectl_policy.cli.remarks import at_field, mention_namespaces
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.call import CommandCall
    from kubectl_policy.questions.connections.connection import ConnectionDescription
    from kubectl_policy.questions.connections.endpoints import NamedEnd
    from kubectl_policy.questions.connections.rule_views import Locate
    from kubectl_policy.questions.why_not.connections.answer import ConnectionExplanation
    from kubectl_policy.questions.why_not.connections.case import Wanted
    from kubectl_policy.render.connections import connection, explanation
    from kubectl_policy.sources import Lines
else:
    connection, explanation = (
        LazyFunctions(f"kubectl_policy.render.connections.{name}") for name in ("connection", "explanation")
    )

CONNECTION_DESCRIPTION: Final["Renderers[ConnectionDescription]"] = Renderers(
    kind="ConnectionDescription",
    headline=connection.connection_headline,
    tree=connection.connection_text,
    table=connection.connection_table,
)


CONNECTION_EXPLANATION: Final["Renderers[ConnectionExplanation]"] = Renderers(
    kind="ConnectionExplanation", headline=explanation.explanation_headline, tree=explanation.explanation_text
)


def rule_lines(lines: "Lines") -> "Locate":
    """Return a function that gives the location of a rule in a policy."""
    return lambda origin, field: at_field(origin, field, lines)


def describe_connection(
    call: "CommandCall",
    analysis: "Analysis",
    pairs: "Sequence[tuple[str, str]]",
    asked: tuple[str, str, str],
    *,
    allow_incomplete: bool,
) -> int:
    """Describe the connections between an object and another end."""
    from kubectl_policy.questions.connections.connection import PortQuery, with_rule_lines
    from kubectl_policy.questions.connections.connection import describe_connection as ask

    start, end, port = asked
    if bool(start) == bool(end):
        raise UsageError("a connection has two ends, and one of them is the object", "say --to or --from")
    if len(pairs) != 1:
        raise UsageError("a connection is asked of one object", "name it as TYPE/NAME")
    subject = connection_end(call, analysis, "/".join(pairs[0]))
    source, destination = (
        (connection_end(call, analysis, start), subject) if start else (subject, connection_end(call, analysis, end))
    )
    answer = ask(analysis, source, destination, PortQuery.parse(port) if port else None)
    answer = with_rule_lines(answer, rule_lines(call.lines))
    call.show(CONNECTION_DESCRIPTION, answer, analysis, unseen=answer.unseen)
    mention_namespaces(analysis, filter(None, (source.object, destination.object)))
    return exit_code(incomplete=answer.unknown and not allow_incomplete)


def explain_connection(
    call: "CommandCall",
    analysis: "Analysis",
    ends: "Sequence[NamedEnd]",
    port: str,
    *,
    wanted: "Wanted",
    allow_incomplete: bool,
) -> int:
    """Explain why the connections between two ends are not as wanted."""
    from kubectl_policy.questions.connections.connection import PortQuery, with_rule_lines
    from kubectl_policy.questions.why_not.connections.answer import why_not_connected

    source, destination = ends
    answer = why_not_connected(analysis, source, destination, PortQuery.parse(port) if port else None, wanted)
    located = with_rule_lines(answer, rule_lines(call.lines))
    edits = tuple(
        replace(offered, origin=at_field(offered.origin, offered.field, call.lines, or_above=True))
        for offered in answer.edits
    )
    answer = replace(answer, connections=located.connections, edits=edits)
    call.show(CONNECTION_EXPLANATION, answer, analysis, unseen=answer.unseen)
    mention_namespaces(analysis, filter(None, (source.object, destination.object)))
    return exit_code(incomplete=answer.unknown and not allow_incomplete)


def connection_end(call: "CommandCall", analysis: "Analysis", text: str, namespace: str = "") -> "NamedEnd":
    """Return the end of a connection that is named by `TYPE/NAME`, `TYPE/NAMESPACE/NAME`, or an IP address.

    Without `namespace`, the object is in the namespace of the call.
    """
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
    return end_of(analysis, find(analysis, type_name, name, namespace or call.in_namespace))
