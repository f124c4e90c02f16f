"""Phrases for ends of connections, sets of workloads and rules of network policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kind_roles import POD
from kubectl_policy.model.kinds import listed
from kubectl_policy.render.output.text import Line, Segment
from kubectl_policy.render.wording.names import at_origin, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.network.policy import Action
    from kubectl_policy.questions.connections.endpoints import NamedEnd
    from kubectl_policy.questions.connections.rule_views import RuleView
    from kubectl_policy.questions.connections.verdicts import SideVerdict
    from kubectl_policy.questions.connections.workload_sets import WorkloadGroup, WorkloadSet
    from kubectl_policy.render.output.text import View

# So many controllers and namespaces are named at a terminal.
_MAX_GROUPS: Final = 6
_VERBS: Final[Mapping[Action, str]] = {"Allow": "allows", "Deny": "denies", "Pass": "passes on"}


def end_phrase(end: NamedEnd) -> str:
    """Name an end of a connection: `Pod shop/web`, `8.8.8.8`."""
    return str(end.object) if end.object else end.address


def set_phrase(workloads: WorkloadSet, view: View) -> str:
    """Name a set of workloads: `Deployment shop/web (3 Pods) and every workload in namespace db, except Pod db/old`."""
    if workloads.everything and not workloads.excepted:
        return f"all {count(workloads.number, 'workload')}" if workloads.number else "no workload"
    names = [f"every workload in namespace {namespace}" for namespace in workloads.namespaces]
    if workloads.everything:
        names = ["every workload"]
    names += map(group_phrase, workloads.groups)
    excepted = listed(_first_names([group_phrase(group) for group in workloads.excepted], view))
    phrase = listed(_first_names(names, view)) or "no workload"
    return f"{phrase}, except {excepted}" if excepted else phrase


def _first_names(names: list[str], view: View) -> list[str]:
    shown, rest = view.first(names, _MAX_GROUPS)
    return [*shown, f"{rest} more; --show-all names them"] if rest else [*shown]


def group_phrase(group: WorkloadGroup) -> str:
    """Name workloads of one controller: `Deployment shop/web (3 Pods)`."""
    controller = group.controller
    is_single = controller.group_kind == POD or group.number == 1
    return str(controller) if is_single else f"{controller} ({count(group.number, 'Pod')})"


def rule_phrase(view: RuleView) -> str:
    """Name a rule: `NetworkPolicy shop/web, ingress[0]`, `AdminNetworkPolicy dns, rule "allow-dns"`."""
    policy = str(view.policy.policy)
    if not view.field:
        return f"{policy}, which isolates"
    position = view.field.removeprefix("spec.")
    return f"{policy}, {position}" if view.rule == position else f'{policy}, {position} "{view.rule}"'


def rule_line(view: RuleView, lead: str = "", *, indent: int = 4) -> Line:
    """Return a line with a rule, what it does, and its place."""
    priority = f" (priority {view.policy.priority})" if view.policy.priority is not None else ""
    spans = (
        Segment(f"{lead}{rule_phrase(view)}{priority}", "subject"),
        Segment(at_origin(view.origin, "   {}"), "aside"),
    )
    return Line(spans, indent, indent + 2)


def action_verb(action: Action) -> str:
    """Return the verb for an action: `allows`, `denies`, `passes on`."""
    return _VERBS[action]


def rule_lines(views: tuple[RuleView, ...], lead: str, *, indent: int = 4) -> Iterator[Line]:
    """Return a line for each of some rules."""
    return (rule_line(view, lead, indent=indent) for view in views)


def denying_phrase(side: SideVerdict) -> str:
    """Name what denies a connection on one side: the NetworkPolicies that isolate, or the first rule."""
    if side.tier == "NetworkPolicy":
        policies = listed([str(rule.policy.policy) for rule in side.deciding])
        return f"{policies}, as no rule allows it"
    return rule_phrase(side.deciding[0])
