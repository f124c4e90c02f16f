"""The explanation of a policy kind as text: what the fields of its profile mean."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import KIND_ROWS
from kubectl_policy.model.kinds import POLICY_LABEL, listed
from kubectl_policy.profiles.load import name_in_files
from kubectl_policy.render.explain.combining import ancestor_phrase, combinations, one_target_phrase
from kubectl_policy.render.explain.conditions import permissive_phrase, restriction_phrase
from kubectl_policy.render.explain.connections import (
    connection_sayings,
    connections_gist,
    connections_reach,
    subject_fields,
)
from kubectl_policy.render.explain.reports import report_sayings
from kubectl_policy.render.explain.values import listener_rules, named_settings, required_settings, value_rules
from kubectl_policy.render.output.text import Line, Segment, cells, pad, prose_line
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.names import at_origin, count, either, kinds_phrase, levels_phrase
from kubectl_policy.render.wording.sections import headline_line, next_section, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.fields import Role
    from kubectl_policy.profiles.needs import RequiredObject
    from kubectl_policy.questions.explain import Basis, Explanation
    from kubectl_policy.render.explain.combining import Saying
    from kubectl_policy.render.output.text import Document, View
    from kubectl_policy.render.wording.sections import Command

TARGETS: Final = "What a policy targets"
EFFECT: Final = "What a policy changes"
CONNECTIONS: Final = "Which connections a policy decides about"
TWO: Final = "How two policies combine"
REPORT: Final = "What controllers report"


class Statement(Struct, frozen=True, kw_only=True):
    """A statement about a policy kind."""

    topic: Annotated[str, Meta(description="The heading of the statement in the text of the answer.")]
    label: Annotated[str, Meta(description="The label of the statement below its heading.")]
    attributes: tuple[str, ...]
    text: Annotated[str, Meta(description="The statement itself, for people.")]
    basis: Annotated[
        Basis, Meta(description="The source of the statement; assumed is a guess, default is the rule of GEP-713.")
    ]

    @property
    def fields(self) -> Annotated[tuple[str, ...], Meta()]:
        """The profile fields of the statement; mapFields comes from the schema of the definition only."""
        return tuple(map(name_in_files, self.attributes))


def statements(explanation: Explanation) -> Iterator[Statement]:
    """List all statements about a policy kind, known or assumed, in the order of the answer.

    If policies of the kind do not attach by references, statements that rest on defaults are left out.
    """
    profile = explanation.profile
    for topic, (label, fields, texts) in sayings(profile):
        basis = explanation.basis(*fields)
        for text in (texts,) if isinstance(texts, str) else texts:
            if text and (profile.attaches_by_references or basis != "default"):
                yield Statement(topic=topic, label=label, attributes=fields, text=text, basis=basis)


def sayings(profile: PolicyKindProfile) -> Iterator[tuple[str, Saying]]:
    """List the statements of all fields of a profile, by heading."""
    topics = (
        (TARGETS, _targets),
        (EFFECT, _effect),
        (CONNECTIONS, connection_sayings),
        (TWO, combinations),
        (REPORT, report_sayings),
    )
    for topic, about in topics:
        for saying in about(profile):
            yield topic, saying


def _targets(profile: PolicyKindProfile) -> Iterator[Saying]:
    references = profile.target_fields
    yield (
        "named in",
        ("reference_fields", "attachment"),
        {
            "references": either(references),
            "partly": f"{either(references)}; how a policy without any of them attaches is not computed",
            "filters": "only filters of routes",
            "parameters": "spec.infrastructure.parametersRef of Gateways and spec.parametersRef of GatewayClasses",
            "connections": "",
            "none": "unknown fields: attachment is not computed, so answers claim nothing about what a policy affects",
        }[profile.attachment]
        if profile.about_connections is None
        else subject_fields(profile.about_connections),
    )
    backends = "; a filter of a backendRef can name a policy for that backend only" if profile.backend_filters else ""
    rules = f"a filter of type ExtensionRef in a rule of {kinds_phrase(profile.filter_routes)} can name a policy"
    first = f"{rules}, which then precedes all other policies on that rule{backends}"
    yield "by filters", ("filter_routes", "backend_filters"), first if profile.filter_routes else ""
    kinds = profile.declared_targets
    rows = [row for row in KIND_ROWS if row.sections and (row.group_kind in kinds or not kinds)]
    nouns = either(tuple(dict.fromkeys(row.section_noun for row in rows)))
    part = f"; sectionName, if set, names one {nouns} of the object" if rows and references else ""
    named = kinds_phrase(kinds) if kinds else "an object of any kind" if references else ""
    yield "target kinds", ("declared_targets",), named + part
    yield "restricted", ("restricted_targets",), "; ".join(map(restriction_phrase, profile.restricted_targets))
    wrong = "a policy that also names a kind which it cannot target is invalid as a whole"
    yield "wrong kinds", ("wrong_kinds",), wrong if profile.wrong_kinds == "policy" else ""
    virtual = kinds_phrase(profile.virtual_targets)
    yield "virtual kinds", ("virtual_targets",), virtual and f"{virtual}, which no API serves"
    group, unnamed = profile.target_group, profile.unnamed_rules
    yield "default group", ("target_group",), group and f"a reference without a group means {group}"
    first, second = (unnamed.replace("{n}", number) for number in "12")
    yield "unnamed rules", ("unnamed_rules",), unnamed and f"{first}, {second} and so on, by position in the route"
    yield "namespace", ("cross_namespace", "grant_required"), _namespaces(profile)
    referred = "if a route forwards requests to it, even if the object does not exist"
    yield "target exists", ("targets_exist",), referred if profile.targets_exist == "whenReferred" else ""
    yield "enabled by", ("enabled_by",), _enabled_by(profile)
    sizes = (f"{size} must not be less than {either(least)}" for size, least in profile.least_sizes.items())
    yield "sizes", ("least_sizes",), "; ".join(sizes)
    yield "values", ("values",), value_rules(profile)
    yield "settings", ("required_settings",), required_settings(profile)
    about_listeners = ("ports", "default_host_field", "gateway_sections", "merged_targets")
    yield "listeners", about_listeners, listener_rules(profile)
    yield "names", ("named_settings",), named_settings(profile)
    errors = "requests to the targets of an invalid policy get an error response"
    yield "if invalid", ("when_invalid",), errors if profile.when_invalid == "errors" else ""
    nothing = "a selector without requirements selects nothing"
    yield "selectors", ("empty_selector",), nothing if profile.empty_selector == "nothing" else ""
    everywhere = profile.global_namespace
    policies = f"policies in namespace {everywhere} can select objects in all namespaces"
    yield "all namespaces", ("global_namespace",), everywhere and policies
    vital = [need for need in profile.needs if need.by != "labels" and need.when_missing == "invalid"]
    yield "requires", ("needs",), _needs(need for need in vital if not need.optional)
    named = _needs(need for need in vital if need.optional)
    yield "must exist", ("needs",), named and f"if a policy names it: {named}"
    yield "refers to", ("needs",), _needs(need for need in profile.needs if need not in vital)
    exclusive, status = profile.exclusive_field, profile.target_status
    shared = f"no two targets can share an entry of {exclusive}"
    yield "exclusive", ("exclusive_field",), exclusive and shared
    yield "no effect", ("target_status",), status and f"if the target has no {status}"
    called = listed(profile.backend_fields)
    yield "backends", ("backend_fields",), called and f"a policy sends its own requests to the backends in {called}"


def _namespaces(profile: PolicyKindProfile) -> str:
    if profile.cross_namespace is False:
        return "only the namespace of the policy"
    across = "if a ReferenceGrant permits it" if profile.grant_required else "without a ReferenceGrant"
    return f"the namespace of the policy; another namespace {across}" if profile.attaches_by_references else ""


def _enabled_by(profile: PolicyKindProfile) -> str:
    enabling = profile.enabled_by
    if enabling is None:
        return ""
    without = "; a Gateway without parameters enables the policy, too" if enabling.without == "allowed" else ""
    return f"{enabling.field}, in the {enabling.group_kind.kind} that the Gateway names as its parameters{without}"


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
    last = "; if a path has several, at the last" if len(levels) > 1 else ""
    end = "at its target" if direct else "at the end of each path, for example at a Service"
    yield "takes effect", ("effective_targets",), f"at {levels_phrase(levels)}{last}" if levels else end
    inside = "a path counts only if the hostname of the listener covers a hostname of the route"
    yield "hostnames", ("hostnames",), inside if profile.hostnames == "inside" else ""
    relation = profile.sections or ("replace" if direct else "")
    verb = {"refine": "adds to", "replace": "replaces", "": ""}[relation]
    yield "on sections", ("sections",), verb and f"a policy on a section {verb} the policy on the whole object"
    status = profile.answers
    yield (
        "answers",
        ("answers",),
        status and f"a policy that sets {status} answers requests itself; backends receive none",
    )
    anything = "any setting: a policy changes the configuration of the proxy itself, and these changes are not read"
    yield "may change", ("patches",), anything if profile.patches else ""
    fields = "any field" if "*" in profile.security_fields else either(sorted(profile.security_fields))
    yield "security", ("security_fields",), fields and f"removing {fields} removes a protection"
    yield "no protection", ("permissive",), "; ".join(map(permissive_phrase, profile.permissive))
    controllers = either(sorted(profile.controllers))
    yield (
        "controllers",
        ("controllers",),
        f"only Gateways of {controllers}" if controllers else "Gateways of any controller",
    )
    settings = (
        f"{name} (default: {setting.default or 'nothing'}): {setting.description}"
        for name, setting in profile.settings.items()
    )
    yield "--setting", ("settings",), "; ".join(settings)


def reach_phrase(profile: PolicyKindProfile) -> str:
    """Return what a policy changes."""
    if profile.about_connections:
        return connections_reach(profile)
    return "only its target" if profile.policy_class == "direct" else "its target and the objects below it"


_ASSUMED: Final = {
    "being a policy": "that it is a policy kind",
    "class": "its class",
    "merge strategy": "its merge strategy",
}
# How to check each assumption.
REMEDIES: Final = {
    "being a policy": "Is the kind meant to change the behavior of the objects in its target references? See its"
    " documentation.",
    "class": "Does a policy on a Gateway also change its routes (inherited), or only the Gateway (direct)?"
    f" See the label {POLICY_LABEL} of its CustomResourceDefinition, or its documentation.",
    "merge strategy": "If a Gateway and a route each have a policy, which settings are in force on the route? Look for"
    " merge, override, precedence and conflict in its documentation, or try it and compare.",
}
_BELIED: Final = (
    "The label says direct, but policies target Gateways and routes. If a policy on a Gateway also changes the routes"
    " of the Gateway, the kind is inherited, whatever the label says."
)
_NOTES: Final[Mapping[bool, str]] = {False: "Notes", True: "Not computed, so answers may be wrong here"}
_MARKS: Final = {"assumed": " (assumed)", "default": " (by default)"}
_BY_DEFAULT: Final = "no source defines this, so the rules of GEP-713 for all policy kinds are assumed"


# Kinds whose objects are not policies.
_WHAT: Final[Mapping[Role, str]] = {
    "filter": "a kind of filters, referenced by routes",
    "parameters": "a kind of parameters, referenced by Gateways and GatewayClasses",
}


def explanation_headline(answer: Explanation) -> str:
    """Return the answer in one sentence, with its assumptions and whether it is incomplete."""
    profile = answer.profile
    verb = "looks like" if "being a policy" in profile.assumed else "is"
    noun = _WHAT.get(profile.role) or profile.class_phrase.replace("policy", "policy kind", 1)
    sentence = f"{profile.group_kind} {verb} {noun}: {_gist(answer)}"
    assumed = [_ASSUMED[choice] for choice in profile.assumed]
    doubt = f"; {listed(assumed)} {'is' if len(assumed) == 1 else 'are'} assumed" if assumed else ""
    return f"{sentence}{doubt}{unread_hedge(answer.unseen)}."


def _gist(answer: Explanation) -> str:
    profile = answer.profile
    if profile.about_connections:
        return connections_gist(profile)
    if profile.attachment == "none":
        return "attachment is not computed, so answers claim nothing about what its policies affect"
    if profile.role == "filter":
        filters = one_target_phrase(profile).replace("policies", "filters").replace("policy", "filter")
        return f"a filter changes the requests of the rule that names it; if a rule names two filters, {filters}"
    if profile.role == "parameters":
        winner = "their settings choose which object wins" if profile.strategy_field else ancestor_phrase(profile)
        objects = winner.replace("policy", "object")
        return f"parameters apply to the whole Gateway; if the class and the Gateway both name parameters, {objects}"
    reach = f"a policy changes {reach_phrase(profile)}"
    if profile.strategy_field or profile.stanzas in {"plural", "singular"}:
        return f"{reach}; policies choose themselves which of two policies wins"
    above = ancestor_phrase(profile)
    two = f"of two policies, {above}" if above else f"of two policies on one target, {one_target_phrase(profile)}"
    return f"{reach}; {two}"


def explanation_document(answer: Explanation, context: str) -> dict[str, object]:
    """Return the members of the answer and its statements."""
    from kubectl_policy.render.output.encoding import document  # noqa: PLC0415 (text does without)

    members = document("PolicyKindExplanation", explanation_headline(answer), answer, context)
    return {**members, "statements": tuple(statements(answer))}


def explanation_text(answer: Explanation, view: View) -> Document:
    """Return the answer about a policy kind: headline, statements, sources, assumptions, blind spots, next commands."""
    profile, all_statements = answer.profile, list(statements(answer))
    nearer = " (the nearer policy is the one nearer to the backend)" if profile.policy_class == "inherited" else ""
    remedies = {**REMEDIES, **({"class": _BELIED} if profile.policy_class == "direct" else {})}
    notes = [prose_line(answer.notes, indent=2, hang=2)] if answer.notes else []
    return (
        headline_line(explanation_headline(answer)),
        *(
            line
            for topic, together in groupby(all_statements, lambda statement: statement.topic)
            for line in section(topic + (nearer if topic == TWO else ""), _rows(_labelled(together, answer)))
        ),
        *section("Sources", _rows(_known(answer, all_statements))),
        *section("Assumptions", _rows((choice, remedies[choice], "") for choice in profile.assumed)),
        *section(_NOTES[profile.approximate], notes),
        *unseen_section(answer.unseen),
        *next_section(_next(answer), view),
    )


def _next(answer: Explanation) -> Iterator[Command]:
    """Return the commands that draft a profile, if the kind has none, and that list the policies of the kind."""
    name = str(answer.profile.group_kind).lower()
    if answer.profile.known_by != "profile":
        yield "explain", name, "--draft-profile"
    if answer.policies:
        yield "get", name, "-A"


def _labelled(together: Iterable[Statement], answer: Explanation) -> Iterator[tuple[str, str, str]]:
    """Return rows of label, text and mark; a label and a mark that several rows share are written once."""
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
            yield "shape", f"its spec has target references{where}", ""
    read = dict.fromkeys(statement.label for statement in all_statements if statement.basis == "schema")
    if read:
        yield "schema", f"of its CustomResourceDefinition, for: {', '.join(read)}", ""
    for position, evidence in enumerate(answer.profile.evidence):
        yield "" if position else "evidence", evidence, ""
    if any(statement.basis == "default" for statement in all_statements):
        yield "by default", _BY_DEFAULT, ""


def _rows(rows: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    aligned = list(rows)
    width = max((cells(label) for label, _, _ in aligned), default=0)
    for label, text, mark in aligned:
        start = Segment(pad(label, width) + "   ", "subject" if label else "")
        spans = (start, Segment(text, prose=True), Segment(mark, "aside", prose=True))
        yield Line(tuple(span for span in spans if span.text), 2, 2 + width + 3)
