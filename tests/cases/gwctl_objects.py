"""Answers to gwctl's questions for objects: attached ones, those above and below, and those that refer to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import NodeRef
from kubectl_policy.model.fields import text_at
from tests.cases.gwctl_blast import reached_by
from tests.cases.gwctl_question import inherited, is_route, written
from tests.cases.worlds import items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_policy import ObjectRef, Path
    from kubectl_policy.model import Json
    from tests.cases.gwctl_question import Answer, Question


def names(objects: Callable[[Question], Iterable[ObjectRef]], *, kinds: bool = False) -> Answer:
    """Return the answer that compares a set of objects as `namespace/name`, or with kinds where the fact gives one."""

    def answer(question: Question, _: str, expected: Json) -> tuple[object, object]:
        wanted = sorted({str(name) for name in items(expected)})
        refs = objects(question)
        with_kind = kinds or any(" " in name for name in wanted)
        bare = not with_kind and not any("/" in name for name in wanted)
        got = {str(ref) if with_kind else ref.name if bare else ref.qualified_name for ref in refs}
        return wanted, sorted(got)

    return answer


def attached_routes(question: Question) -> Iterable[ObjectRef]:
    """Return the routes attached to a Gateway's own listeners."""
    topology, subject = question.before.topology, question.subject
    listeners = topology.children(NodeRef(subject)) if subject else ()
    return [child.object for node in listeners for child in topology.children(node) if is_route(child.object)]


def backends(question: Question) -> Iterable[ObjectRef]:
    """Return the backends below a Gateway or route, or that a policy reaches."""
    if question.subject is None:
        return ()
    if question.subject in question.before.attachments:
        return [ref for policy in reached_by(question) for ref in _backends_on(policy.path)]
    topology, subject = question.before.topology, NodeRef(question.subject)
    if is_route(question.subject):
        return [backend.object for rule in topology.children(subject) for backend in topology.children(rule)]
    return [ref for path in topology.paths_through(subject) for ref in _backends_on(path)]


def routes(question: Question) -> Iterable[ObjectRef]:
    """Return the routes that a policy reaches."""
    return [node.object for policy in reached_by(question) for node in policy.path if is_route(node.object)]


def referring_routes(question: Question) -> Iterable[ObjectRef]:
    """Return the routes that refer to an object or to one of its sections, whether or not traffic reaches them."""
    if question.subject is None:
        return ()
    topology, subject = question.before.topology, question.subject
    nodes = [NodeRef(subject, section) for section in ("", *topology.sections(subject))]
    return [parent.object for node in nodes for parent in topology.parents(node) if is_route(parent.object)]


def gateways_of_class(question: Question) -> Iterable[ObjectRef]:
    """Return the Gateways of a GatewayClass."""
    children = question.before.topology.children(NodeRef(question.subject)) if question.subject else ()
    return [node.object for node in children]


def parents(question: Question) -> Iterable[ObjectRef]:
    """Return the parents that a route names."""
    bindings = question.before.topology.bindings(question.subject) if question.subject else ()
    return [binding.parent for binding in bindings]


def parent_gateways(question: Question) -> Iterable[ObjectRef]:
    """Return the parents of a route that are Gateways."""
    return [parent for parent in parents(question) if parent.kind == "Gateway"]


def not_gateways(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the parents of a route that are no Gateways."""
    not_gateways = {str(parent) for parent in set(parents(question)) - set(parent_gateways(question))}
    return expected, [name for name in items(expected) if name in not_gateways]


def targets(question: Question) -> Iterable[ObjectRef]:
    """Return the targets that a policy is attached to."""
    attachments = question.before.attachments.get(question.subject, ()) if question.subject else ()
    attached = [attachment.target for attachment in attachments if attachment.state == "attached"]
    return [target.object for target in attached if target]


def directly_attached(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the policies attached to an object or to one of its sections."""
    attachments = question.before.attachments_to(question.subject) if question.subject else ()
    attached = {written(attachment.policy) for attachment in attachments if attachment.state == "attached"}
    return sorted(map(str, items(expected))), sorted(attached)


def inherited_policies(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the inherited policies attached above an object, perhaps with their targets."""
    nodes = {node for path in question.paths for node in path if node.object != question.subject}
    policies = {
        (written(policy.ref), str(node))
        for node in nodes
        for policy in question.before.resolver.policies_at(node)
        if inherited(question.before, policy.ref.group_kind)
    }
    wanted = [(text_at(entry, "policy", str(entry)), text_at(entry, "target")) for entry in items(expected)]
    with_targets = any(target for _, target in wanted)
    return sorted(wanted), sorted({(policy, target if with_targets else "") for policy, target in policies})


def not_attached(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare pairs `route -> parent`, without kinds, that a reference names and that are not attached."""
    topology = question.before.topology
    routes = {node.object for node in topology.nodes if is_route(node.object)}
    bindings = [binding for route in sorted(routes) for binding in topology.bindings(route)]
    attached = {(binding.route, binding.parent) for binding in bindings if binding.state == "attached"}
    refused = {(binding.route, binding.parent) for binding in bindings if binding.state == "refused"} - attached
    pairs = {f"{route.qualified_name} -> {parent.qualified_name}" for route, parent in refused}
    return expected, [pair for pair in items(expected) if pair in pairs]


def _backends_on(path: Path) -> list[ObjectRef]:
    """Return the backends on a path: the objects below its last rule."""
    rules = [position for position, node in enumerate(path) if node.section and is_route(node.object)]
    nodes = path[rules[-1] + 1 :] if rules else ()
    return list(dict.fromkeys(node.object for node in nodes if node.kind != "Namespace"))
