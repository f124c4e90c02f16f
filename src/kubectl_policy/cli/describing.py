"""Descriptions of all kinds: who answers for an object, with the lines of fields, and the renderers of each answer."""

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kubectl_policy.cli.connections import rule_lines
from kubectl_policy.cli.remarks import at_fields
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.model.kind_roles import WORKLOADS
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.render.output.formats import Renderers
from kubectl_policy.render.output.text import Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.connections.network_policy import NetworkPolicyDescription
    from kubectl_policy.questions.connections.workload import WorkloadDescription
    from kubectl_policy.questions.describe.description import AnyDescription, Descriptions, Focus
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.shared.fields import FindAuthor
    from kubectl_policy.render.connections import network_policy, workload
    from kubectl_policy.render.describe import headline, objects, policies
    from kubectl_policy.render.output import encoding
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.wording import headlines
    from kubectl_policy.sources import Lines
else:
    headline, objects, policies = (
        LazyFunctions(f"kubectl_policy.render.describe.{name}") for name in ("headline", "objects", "policies")
    )
    network_policy, workload = (
        LazyFunctions(f"kubectl_policy.render.connections.{name}") for name in ("network_policy", "workload")
    )
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
WORKLOAD_DESCRIPTION: Final["Renderers[WorkloadDescription]"] = Renderers(
    kind="WorkloadDescription",
    rows_suffice=True,
    headline=workload.workload_headline,
    tree=workload.workload_text,
    table=lambda answer, _: [workload.workload_table([answer])],
    names=lambda answer: answer.policies,
)
NETWORK_POLICY_DESCRIPTION: Final["Renderers[NetworkPolicyDescription]"] = Renderers(
    kind="NetworkPolicyDescription",
    rows_suffice=True,
    headline=network_policy.network_policy_headline,
    tree=network_policy.network_policy_text,
    table=lambda answer, _: [network_policy.network_policy_table([answer])],
    names=lambda answer: answer.selects,
)
# The renderers by the type of the answer, whose module is imported for an answer alone.
_RENDERERS: Final[dict[str, Renderers[Any]]] = {
    renderers.kind: renderers
    for renderers in (
        OBJECT_DESCRIPTION,
        POLICY_DESCRIPTION,
        WORKLOAD_DESCRIPTION,
        NETWORK_POLICY_DESCRIPTION,
    )
}


def _renderers_of(item: "AnyDescription") -> Renderers[Any]:
    return _RENDERERS[type(item).__name__]


def _tables(answer: "Descriptions") -> "list[Table[Any]]":
    tables: tuple[tuple[Renderers[Any], Callable[[list[Any]], Table[Any]]], ...] = (
        (OBJECT_DESCRIPTION, lambda items: objects.settings_of(items, named=True)),
        (POLICY_DESCRIPTION, policies.targets_of),
        (WORKLOAD_DESCRIPTION, workload.workload_table),
        (NETWORK_POLICY_DESCRIPTION, network_policy.network_policy_table),
    )
    by_kind: list[tuple[Callable[[list[Any]], Table[Any]], list[Any]]] = [
        (table, [item for item in answer.items if _renderers_of(item) is renderers]) for renderers, table in tables
    ]
    return [table(items) for table, items in by_kind]


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


def _describe_workload(analysis: "Analysis", subject: "ObjectRef", lines: "Lines") -> "WorkloadDescription":
    from kubectl_policy.questions.connections.endpoints import end_of
    from kubectl_policy.questions.connections.workload import describe_workload, workload_with_lines

    answer = describe_workload(analysis, subject, end_of(analysis, subject).members)
    return workload_with_lines(answer, rule_lines(lines))


def _describe_network_policy(analysis: "Analysis", subject: "ObjectRef", lines: "Lines") -> "NetworkPolicyDescription":
    from kubectl_policy.questions.connections.network_policy import describe_network_policy, policy_with_lines

    return policy_with_lines(describe_network_policy(analysis, subject), rule_lines(lines))


def describe_one(
    analysis: "Analysis", node: "NodeRef", focus: "Focus", lines: "Lines", author_of: "FindAuthor | None"
) -> "tuple[Renderers[Any], AnyDescription]":
    """Describe an object or a policy, with the lines of fields, and with their authors if they are asked for."""
    subject = node.object
    if subject.group_kind in WORKLOADS:
        return WORKLOAD_DESCRIPTION, _describe_workload(analysis, subject, lines)
    if subject.group_kind in EVALUATED_KINDS:
        return NETWORK_POLICY_DESCRIPTION, _describe_network_policy(analysis, subject, lines)
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
