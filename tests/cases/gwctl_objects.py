"""What this project says to gwctl's questions for objects: what is attached, above, below or refers."""

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
    """An answer that is a set of objects, each as `namespace/name`, or with its kind where the fact gives one."""

    def answer(question: Question, _: str, expected: Json) -> tuple[object, object]:
        wanted = sorted({str(name) for name in items(expected)})
        found = objects(question)
        with_kind = kinds or any(" " in name for name in wanted)
        bare = not with_kind and not any("/" in name for name in wanted)
        got = {str(ref) if with_kind else ref.name if bare else ref.qualified_name for ref in found}
        return wanted, sorted(got)

    return answer


def attached_routes(question: Question) -> Iterable[ObjectRef]:
    """The routes attached to a Gateway's own listeners."""
    topology, subject = question.before.topology, question.subject
    listeners = topology.children(NodeRef(subject)) if subject else ()
    return [child.object for node in listeners for child in topology.children(node) if is_route(child.object)]


def backends(question: Question) -> Iterable[ObjectRef]:
    """The backends below a Gateway or route, or that a policy reaches."""
    if question.subject is None:
        return ()
    if question.subject in question.before.attachments:
        return [ref for one in reached_by(question) for ref in _backends_on(one.path)]
    topology, subject = question.before.topology, NodeRef(question.subject)
    if is_route(question.subject):
        return [backend.object for rule in topology.children(subject) for backend in topology.children(rule)]
    return [ref for path in topology.paths_through(subject) for ref in _backends_on(path)]


def routes(question: Question) -> Iterable[ObjectRef]:
    """The routes that a policy reaches."""
    return [node.object for one in reached_by(question) for node in one.path if is_route(node.object)]


def referring_routes(question: Question) -> Iterable[ObjectRef]:
    """The routes that refer to an object or one of its sections, whether or not traffic reaches them."""
    if question.subject is None:
        return ()
    topology, subject = question.before.topology, question.subject
    nodes = [NodeRef(subject, section) for section in ("", *topology.sections(subject))]
    return [above.object for node in nodes for above in topology.parents(node) if is_route(above.object)]


def gateways_of_class(question: Question) -> Iterable[ObjectRef]:
    """The Gateways of a GatewayClass."""
    children = question.before.topology.children(NodeRef(question.subject)) if question.subject else ()
    return [node.object for node in children]


def parents(question: Question) -> Iterable[ObjectRef]:
    """The parents that a route names."""
    bindings = question.before.topology.bindings(question.subject) if question.subject else ()
    return [binding.parent for binding in bindings]


def parent_gateways(question: Question) -> Iterable[ObjectRef]:
    """Those of a route's parents that are Gateways."""
    return [parent for parent in parents(question) if parent.kind == "Gateway"]


def not_gateways(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The parents that a route names and that are no Gateways."""
    others = {str(parent) for parent in set(parents(question)) - set(parent_gateways(question))}
    return expected, [name for name in items(expected) if name in others]


def targets(question: Question) -> Iterable[ObjectRef]:
    """The targets that a policy is attached to."""
    found = question.before.attachments.get(question.subject, ()) if question.subject else ()
    return [attachment.target.object for attachment in found if attachment.state == "attached" and attachment.target]


def directly_attached(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The policies attached to an object or one of its sections."""
    found = question.before.attachments_to(question.subject) if question.subject else ()
    attached = {written(attachment.policy) for attachment in found if attachment.state == "attached"}
    return sorted(map(str, items(expected))), sorted(attached)


def inherited_policies(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """The inherited policies attached above an object, perhaps with their targets."""
    above = {node for path in question.paths for node in path if node.object != question.subject}
    found = {
        (written(policy.ref), str(node))
        for node in above
        for policy in question.before.resolver.policies_at(node)
        if inherited(question.before, policy.ref.group_kind)
    }
    wanted = [(text_at(entry, "policy", str(entry)), text_at(entry, "target")) for entry in items(expected)]
    with_targets = any(target for _, target in wanted)
    return sorted(wanted), sorted({(policy, target if with_targets else "") for policy, target in found})


def not_attached(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Pairs `route -> parent`, without their kinds, that are named in a reference and are not attached."""
    topology = question.before.topology
    routes = {node.object for node in topology.nodes if is_route(node.object)}
    bindings = [binding for route in sorted(routes) for binding in topology.bindings(route)]
    attached = {(binding.route, binding.parent) for binding in bindings if binding.state == "attached"}
    refused = {(one.route, one.parent) for one in bindings if one.state == "refused"} - attached
    pairs = {f"{route.qualified_name} -> {parent.qualified_name}" for route, parent in refused}
    return expected, [pair for pair in items(expected) if pair in pairs]


def _backends_on(path: Path) -> list[ObjectRef]:
    """The backends on a path: the objects below its last rule."""
    rules = [place for place, node in enumerate(path) if node.section and is_route(node.object)]
    below = path[rules[-1] + 1 :] if rules else ()
    return list(dict.fromkeys(node.object for node in below if node.kind != "Namespace"))
