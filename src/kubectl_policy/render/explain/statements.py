"""The explanation of a policy kind as text: what the fields of its profile mean."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import KIND_ROWS
from kubectl_policy.model.kinds import POLICY_LABEL, listed
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.profiles.load import name_in_files
from kubectl_policy.render.explain.combining import ancestor_phrase, combinations, one_target_phrase
from kubectl_policy.render.output.text import Line, Segment, cells, pad, prose_line
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.names import at_origin, count, either, kinds_phrase, levels_phrase
from kubectl_policy.render.wording.sections import headline_line, next_section, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Event, Placement, StatusProfile
    from kubectl_policy.profiles.needs import RequiredObject
    from kubectl_policy.profiles.profile import Role
    from kubectl_policy.questions.explain import Basis, Explanation
    from kubectl_policy.render.explain.combining import Saying
    from kubectl_policy.render.output.text import Document, View
    from kubectl_policy.render.wording.sections import Command

TARGETS: Final = "What a policy targets"
EFFECT: Final = "What it changes"
TWO: Final = "How two policies combine"
REPORT: Final = "What its controllers report"


class Statement(Struct, frozen=True, kw_only=True):
    """One thing that is said of a policy kind."""

    topic: Annotated[str, Meta()]
    label: Annotated[str, Meta()]
    attributes: tuple[str, ...]
    text: Annotated[str, Meta()]
    basis: Annotated[
        Basis,
        Meta(description="Where it is from; assumed is a guess, default holds where nothing says otherwise."),
    ]

    @property
    def fields(self) -> Annotated[tuple[str, ...], Meta()]:
        """The fields of a profile that say so; mapFields is of the definition's schema alone."""
        return tuple(map(name_in_files, self.attributes))


def statements(explanation: Explanation) -> Iterator[Statement]:
    """List all statements about a policy kind, known or assumed, in the order in which people ask.

    Of a kind whose way of attaching is not computed only what somebody has said: the defaults claim nothing about it.
    """
    profile = explanation.profile
    for topic, (label, fields, texts) in sayings(profile):
        basis = explanation.basis(*fields)
        for text in (texts,) if isinstance(texts, str) else texts:
            if text and (profile.attaches_as_known or basis != "default"):
                yield Statement(topic=topic, label=label, attributes=fields, text=text, basis=basis)


def sayings(profile: PolicyKindProfile) -> Iterator[tuple[str, Saying]]:
    """List the statements of all fields of a profile, by heading."""
    for topic, about in ((TARGETS, _targets), (EFFECT, _effect), (TWO, combinations), (REPORT, _reports)):
        for saying in about(profile):
            yield topic, saying


def _targets(profile: PolicyKindProfile) -> Iterator[Saying]:
    references = profile.target_fields
    yield (
        "named in",
        ("reference_fields", "attachment"),
        {
            "references": either(references),
            "partly": f"{either(references)}; without any, a policy attaches in a way that is not computed",
            "filters": "filters of routes only",
            "parameters": "spec.infrastructure.parametersRef of Gateways and spec.parametersRef of GatewayClasses",
            "none": "in a way that is not computed, so nothing is claimed about what a policy affects",
        }[profile.attachment],
    )
    backends = "; a filter of a backendRef may do so too, for that backend only" if profile.backend_filters else ""
    rules = f"a filter of type ExtensionRef in a rule of {kinds_phrase(profile.filter_routes)} may name a policy"
    first = f"{rules}, which then comes before all others on that rule{backends}"
    yield "by filters", ("filter_routes", "backend_filters"), first if profile.filter_routes else ""
    kinds = profile.declared_targets
    rows = [row for row in KIND_ROWS if row.sections and (row.group_kind in kinds or not kinds)]
    nouns = either(tuple(dict.fromkeys(row.section_noun for row in rows)))
    part = f"; sectionName, where there is one, names one {nouns} of it" if rows and references else ""
    named = kinds_phrase(kinds) if kinds else "an object of any kind" if references else ""
    yield "may be", ("declared_targets",), named + part
    virtual = kinds_phrase(profile.virtual_targets)
    yield "or also", ("virtual_targets",), virtual and f"{virtual}, which no API serves"
    group, unnamed = profile.target_group, profile.unnamed_rules
    yield "no group", ("target_group",), group and f"a reference without a group means {group}"
    first, second = (unnamed.replace("{n}", number) for number in "12")
    yield "unnamed rules", ("unnamed_rules",), unnamed and f"{first}, {second} and so on, by their place in the route"
    yield "namespace", ("cross_namespace", "grant_required"), _namespaces(profile)
    referred = "if a route sends requests to it, whether or not there is such an object"
    yield "there", ("targets_exist",), referred if profile.targets_exist == "whenReferred" else ""
    yield "enabled by", ("enabled_by",), _enabled_by(profile)
    sizes = (f"{size} must not be less than {either(least)}" for size, least in profile.least_sizes.items())
    yield "sizes", ("least_sizes",), "; ".join(sizes)
    errors = "requests to the targets of an invalid policy get an error response"
    yield "if invalid", ("when_invalid",), errors if profile.when_invalid == "errors" else ""
    nothing = "a selector without any requirement selects nothing"
    yield "selectors", ("empty_selector",), nothing if profile.empty_selector == "nothing" else ""
    everywhere = profile.global_namespace
    policies = f"policies in namespace {everywhere} may select objects in every namespace"
    yield "everywhere", ("global_namespace",), everywhere and policies
    vital = [need for need in profile.needs if need.by != "labels" and need.when_missing == "invalid"]
    yield "must have", ("needs",), _needs(need for need in vital if not need.optional)
    named = _needs(need for need in vital if need.optional)
    yield "must be there", ("needs",), named and f"where a policy names it: {named}"
    yield "refers to", ("needs",), _needs(need for need in profile.needs if need not in vital)
    exclusive, status = profile.exclusive_field, profile.target_status
    shared = f"no two targets may have an entry of {exclusive} in common"
    yield "not shared", ("exclusive_field",), exclusive and shared
    yield "idle", ("target_status",), status and f"without {status} in its target, a policy does nothing"
    called = listed(profile.backend_fields)
    yield "backends", ("backend_fields",), called and f"a policy sends requests of its own to those in {called}"


def _namespaces(profile: PolicyKindProfile) -> str:
    if profile.cross_namespace is False:
        return "that of the policy alone"
    across = "where a ReferenceGrant permits it" if profile.grant_required else "as well, without a ReferenceGrant"
    return f"that of the policy; another one {across}" if profile.attaches_as_known else ""


def _enabled_by(profile: PolicyKindProfile) -> str:
    enabling = profile.enabled_by
    if enabling is None:
        return ""
    without = "; a Gateway without one is taken to have it" if enabling.without == "allowed" else ""
    return f"{enabling.field}, in the {enabling.group_kind.kind} that is the Gateway's parameters{without}"


def _needs(needs: Iterable[RequiredObject]) -> str:
    """`a Secret in spec.key and spec.token`: the objects that fields name or select, grouped by kinds."""
    fields: dict[str, list[str]] = {}
    for need in needs:
        unnamespaced = "".join(f" ({kind} has no namespace)" for kind in sorted(need.cluster_kinds))
        kinds = kinds_phrase((*(GroupKind(need.group, kind) for kind in need.kinds), *need.other_kinds)) + unnamespaced
        fields.setdefault(kinds, []).append(f"{need.field} (by labels)" if need.by == "labels" else need.field)
    return "; ".join(f"{kinds} in {listed(field_names)}" for kinds, field_names in fields.items())


def _effect(profile: PolicyKindProfile) -> Iterator[Saying]:
    direct, levels = profile.policy_class == "direct", profile.effective_targets
    yield "reach", ("policy_class",), reach_phrase(profile)
    last = "; of several on one path, at the last" if len(levels) > 1 else ""
    end = "at its target" if direct else "where each path ends, at a Service for example"
    yield "takes effect", ("effective_targets",), f"at {levels_phrase(levels)}{last}" if levels else end
    inside = "a path counts only if a hostname of the route is inside the listener's"
    yield "hostnames", ("hostnames",), inside if profile.hostnames == "inside" else ""
    relation = profile.sections or ("replace" if direct else "")
    verb = {"refine": "adds to", "replace": "stands there in place of", "": ""}[relation]
    yield "on sections", ("sections",), verb and f"a policy on a section {verb} the one on the whole object"
    status = profile.answers
    yield "answers", ("answers",), status and f"requests itself, so that backends get none, where it sets {status}"
    anything = "anything: it changes the proxy's own configuration, and its patches are not read"
    yield "may change", ("patches",), anything if profile.patches else ""
    fields = "any field" if "*" in profile.security_fields else either(sorted(profile.security_fields))
    yield "security", ("security_fields",), fields and f"a protection is lost with {fields}"
    controllers = either(sorted(profile.controllers))
    yield "on Gateways", ("controllers",), f"only of {controllers}" if controllers else "of every controller"
    settings = (
        f"{name} = {setting.default or 'nothing'}, unless you say otherwise: {setting.description}"
        for name, setting in profile.settings.items()
    )
    yield "set up as", ("settings",), "; ".join(settings)


def reach_phrase(profile: PolicyKindProfile) -> str:
    """Say what a policy changes."""
    return "its target alone" if profile.policy_class == "direct" else "its target and what is below it"


_PLACES: Final[Mapping[Placement, str]] = {
    "policy": "status.conditions of the policy",
    "targets": "status.ancestors of the policy, with an entry for each target",
    "parents": "status.ancestors of the policy, with an entry for each parent of a target route",
    "owners": "status.ancestors of the policy, with an entry for each parent of a target route, or owner of a listener",
    "parentGateways": "status.ancestors of the policy, with an entry for each parent Gateway of a route to the target",
    "gateways": "status.ancestors of the policy, with an entry for each Gateway above the target",
}
# What events mean where conditions go by what a policy has of each merge.
_OF_MERGES: Final[Mapping[Event, str]] = {
    "enforced": "it has a part in every field that is merged there",
    "partially enforced": "it has a part in some of what is merged there",
    "overridden": "it has no part in something that is merged there",
}


def _reports(profile: PolicyKindProfile) -> Iterator[Saying]:
    yield "conditions", ("status",), _status(profile.status)
    otherwise = (
        f"by {name}, {line}" if line.startswith("in ") else line
        for name, status in profile.status_by.items()
        for line in _status(status)
    )
    yield "otherwise", ("status_by",), otherwise


def _status(status: StatusProfile) -> Iterator[str]:
    yield f"in {_PLACES[status.placement]}" if status.conditions else "nothing that is known"
    meanings = dict(EVENTS) | (dict(_OF_MERGES) if status.enforced_by == "merges" else {})
    if status.affects == "targets":
        meanings["affected"] = "a policy targets the object, on which this is written"
    if status.narrowed_by == "targets":
        meanings["narrowed"] = "policies further down take effect instead"
    events = grouped(
        (f"{condition.type} {condition.status} ({condition.reason})", meanings[event])
        for event, conditions in status.conditions.items()
        for condition in conditions
    )
    yield from (f"{condition} if {either(causes)}" for condition, causes in events.items())
    if status.target_annotation:
        yield f"the annotation {status.target_annotation} of a target names the policies attached to it"


_ASSUMED: Final = {
    "being a policy": "that it is a policy kind",
    "class": "its class",
    "merge strategy": "its merge strategy",
}
# How to find out whether what is assumed is so.
REMEDIES: Final = {
    "being a policy": "Is it meant to change the behaviour of what its target references name? Its documentation says"
    " so.",
    "class": "Does a policy on a Gateway change what its routes do (inherited), or the Gateway alone (direct)? The"
    f" label {POLICY_LABEL} of its CustomResourceDefinition says so, or its documentation.",
    "merge strategy": "With a policy on a Gateway and one on a route, which settings hold on the route? Look for merge,"
    " override, precedence and conflict in its documentation, or try it and compare.",
}
_BELIED: Final = (
    "Its label says direct, but its policies target Gateways and routes. Does one on a Gateway change what its routes"
    " do? Then it is inherited, whatever its label says."
)
_NOTES: Final[Mapping[bool, str]] = {False: "Notes", True: "What is not computed, so that answers may be wrong there"}
_MARKS: Final = {"assumed": " (assumed)", "default": " (by default)"}
_BY_DEFAULT: Final = "nothing says otherwise, so what GEP-713 says for all policy kinds is assumed"


# What a kind is that is not a policy kind.
_WHAT: Final[Mapping[Role, str]] = {
    "filter": "a kind of filters that routes name",
    "parameters": "a kind of parameters that Gateways and their classes name",
}


def explanation_headline(answer: Explanation) -> str:
    """Return the answer in one sentence; if it rests on assumptions or is incomplete, the same sentence says so."""
    profile = answer.profile
    verb = "looks like" if "being a policy" in profile.assumed else "is"
    noun = _WHAT.get(profile.role) or profile.class_phrase.replace("policy", "policy kind", 1)
    sentence = f"{profile.group_kind} {verb} {noun}: {_gist(answer)}"
    assumed = [_ASSUMED[choice] for choice in profile.assumed]
    doubt = f"; {listed(assumed)} {'is' if len(assumed) == 1 else 'are'} assumed" if assumed else ""
    return f"{sentence}{doubt}{unread_hedge(answer.unseen)}."


def _gist(answer: Explanation) -> str:
    profile = answer.profile
    if not profile.attaches_as_known:
        return "how its policies attach is not computed, so nothing is claimed about what they affect"
    if profile.role == "filter":
        return f"one changes the requests of the rule that names it; of two there, {one_target_phrase(profile)}"
    if profile.role == "parameters":
        choose = "they say themselves which one wins" if profile.strategy_field else ancestor_phrase(profile)
        return f"they hold for all that the Gateway serves; of those of a class and of its Gateway, {choose}"
    reach = f"a policy changes {reach_phrase(profile)}"
    if profile.strategy_field or profile.stanzas in {"plural", "singular"}:
        return f"{reach}; of two policies, they say themselves which one wins"
    return f"{reach}; of two policies, {ancestor_phrase(profile) or one_target_phrase(profile)}"


def explanation_tree(answer: Explanation, view: View) -> Document:
    """Return the answer about a policy kind in the order of thought that every command keeps."""
    profile, all_statements = answer.profile, list(statements(answer))
    nearer = " (the nearer one is the one nearer to the backend)" if profile.policy_class == "inherited" else ""
    remedies = {**REMEDIES, **({"class": _BELIED} if profile.policy_class == "direct" else {})}
    notes = [prose_line(profile.notes, indent=2, hang=2)] if profile.notes else []
    return (
        headline_line(explanation_headline(answer)),
        *(
            line
            for topic, together in groupby(all_statements, lambda statement: statement.topic)
            for line in section(topic + (nearer if topic == TWO else ""), _rows(_labelled(together, answer)))
        ),
        *section("How this is known", _rows(_known(answer, all_statements))),
        *section("What is assumed", _rows((choice, remedies[choice], "") for choice in profile.assumed)),
        *section(_NOTES[profile.approximate], notes),
        *unseen_section(answer.unseen),
        *next_section(_next(answer), view),
    )


def _next(answer: Explanation) -> Iterator[Command]:
    """Return a profile of the kind, if there is none, and the kind's policies."""
    name = str(answer.profile.group_kind).lower()
    if answer.profile.known_by != "profile":
        yield "explain", name, "--draft-profile"
    if answer.policies:
        yield "get", name, "-A"


def _labelled(together: Iterable[Statement], answer: Explanation) -> Iterator[tuple[str, str, str]]:
    """Return rows of a label, a text and a mark; a mark that several rows share is written once."""
    last = ""
    for statement in together:
        again = statement.label == last
        yield "" if again else statement.label, statement.text, "" if again else _MARKS.get(statement.basis, "")
        last = statement.label
        if statement.attributes == ("declared_targets",) and answer.policies:
            parts = [
                f"{levels_phrase([target])} ({count(target.references, 'reference')})" for target in answer.targets
            ]
            named = "; ".join(parts) or "without target references"
            yield f"in {answer.place}", f"{count(answer.policies, 'policy')}: {named}", ""


def _known(answer: Explanation, all_statements: Iterable[Statement]) -> Iterator[tuple[str, str, str]]:
    names = answer.names
    yield "names", ", ".join(dict.fromkeys((names.plural, names.singular, *names.short_names))), ""
    where = at_origin(answer.origin, ", {}")
    match answer.profile.known_by:
        case "profile":
            yield "profile", f"{answer.origin}", ""
        case "label":
            yield "label", f"{POLICY_LABEL} of its CustomResourceDefinition{where}", ""
        case _:
            yield "shape", f"it has target references{where}", ""
    read = dict.fromkeys(statement.label for statement in all_statements if statement.basis == "schema")
    if read:
        yield "schema", f"of its CustomResourceDefinition, for: {', '.join(read)}", ""
    for position, evidence in enumerate(answer.profile.evidence):
        yield "" if position else "evidence", evidence, ""
    if any(statement.basis == "default" for statement in all_statements):
        yield "by default", _BY_DEFAULT, ""


def _rows(rows: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    """Return lines with their labels in one column."""
    aligned = list(rows)
    width = max((cells(label) for label, _, _ in aligned), default=0)
    for label, text, mark in aligned:
        start = Segment(pad(label, width) + "   ", "subject" if label else "")
        spans = (start, Segment(text, prose=True), Segment(mark, "aside", prose=True))
        yield Line(tuple(span for span in spans if span.text), 2, 2 + width + 3)
