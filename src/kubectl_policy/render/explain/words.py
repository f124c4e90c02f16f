"""What each field of a policy kind's profile means, in words, in the order in which people ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import GroupKind
from kubectl_policy.model.values import value
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.render.words.names import either, kinds_words, levels_words, listed, section_noun
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Event, Placement, StatusProfile
    from kubectl_policy.profiles.profile import ConditionalField, RequiredObject
    from kubectl_policy.questions.explain.kinds import Basis, Explanation

TARGETS: Final = "What a policy targets"
EFFECT: Final = "What it changes"
TWO: Final = "How two policies combine"
REPORT: Final = "What its controllers report"

# A label, the fields that belong together, and what they say, perhaps in several lines. That is empty where there is
# nothing to say, which is so of most fields that are not set.
Saying: TypeAlias = "tuple[str, tuple[str, ...], str | Iterable[str]]"


@value(kw_only=True)
class Statement:
    """One thing that is said of a policy kind, the fields of its profile that say so, and where that is from."""

    topic: str
    label: str
    fields: tuple[str, ...]
    text: str
    basis: Basis


def statements(explanation: Explanation) -> Iterator[Statement]:
    """Everything that is known of a policy kind or taken to be so, in the order in which people ask.

    Of a kind whose way of attaching is not computed only what somebody has said: the defaults claim nothing about it.
    """
    profile = explanation.profile
    for topic, (label, fields, said) in sayings(profile):
        basis = explanation.basis(*fields)
        for text in (said,) if isinstance(said, str) else said:
            if text and (profile.attaches_as_known or basis != "default"):
                yield Statement(topic=topic, label=label, fields=fields, text=text, basis=basis)


def sayings(profile: PolicyKindProfile) -> Iterator[tuple[str, Saying]]:
    """What every field of a profile says, below its heading; nothing is left out."""
    for topic, about in ((TARGETS, _targets), (EFFECT, _effect), (TWO, _two), (REPORT, _reports)):
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
    rules = f"a filter of type ExtensionRef in a rule of {kinds_words(profile.filter_routes)} may name a policy"
    first = f"{rules}, which then comes before all others on that rule{backends}"
    yield "by filters", ("filter_routes", "backend_filters"), first if profile.filter_routes else ""
    kinds = profile.declared_targets
    sections = [kind for kind in (*WITH_LISTENERS, *ROUTES, *WITH_PORTS) if kind in kinds or not kinds]
    nouns = either(tuple(dict.fromkeys(map(section_noun, sections))))
    part = f"; sectionName, where there is one, names one {nouns} of it" if sections and references else ""
    named = kinds_words(kinds) if kinds else "an object of any kind" if references else ""
    yield "may be", ("declared_targets",), named + part
    virtual = kinds_words(profile.virtual_targets)
    yield "or also", ("virtual_targets",), virtual and f"{virtual}, which no API serves"
    group, unnamed = profile.target_group, profile.unnamed_rules
    yield "no group", ("target_group",), group and f"a reference without a group means {group}"
    one, two = (unnamed.replace("{n}", number) for number in "12")
    yield "unnamed rules", ("unnamed_rules",), unnamed and f"{one}, {two} and so on, by their place in the route"
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
    other = "where a ReferenceGrant permits it" if profile.grant_required else "as well, without a ReferenceGrant"
    return f"that of the policy; another one {other}" if profile.attaches_as_known else ""


def _enabled_by(profile: PolicyKindProfile) -> str:
    enabling = profile.enabled_by
    if enabling is None:
        return ""
    without = "; a Gateway without one is taken to have it" if enabling.without == "allowed" else ""
    return f"{enabling.field}, in the {enabling.group_kind.kind} that is the Gateway's parameters{without}"


def _needs(needs: Iterable[RequiredObject]) -> str:
    """What fields name or select, those with the same kinds together: `a Secret in spec.key and spec.token`."""
    fields: dict[str, list[str]] = {}
    for need in needs:
        alone = "".join(f" ({kind} has no namespace)" for kind in sorted(need.cluster_kinds))
        kinds = kinds_words((*(GroupKind(need.group, kind) for kind in need.kinds), *need.other_kinds)) + alone
        fields.setdefault(kinds, []).append(f"{need.field} (by labels)" if need.by == "labels" else need.field)
    return "; ".join(f"{kinds} in {listed(found)}" for kinds, found in fields.items())


def _effect(profile: PolicyKindProfile) -> Iterator[Saying]:
    direct, levels = profile.policy_class == "direct", profile.effective_targets
    yield "reach", ("policy_class",), reach_words(profile)
    last = "; of several on one path, at the last" if len(levels) > 1 else ""
    end = "at its target" if direct else "where each path ends, at a Service for example"
    yield "takes effect", ("effective_targets",), f"at {levels_words(levels)}{last}" if levels else end
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


def reach_words(profile: PolicyKindProfile) -> str:
    """What a policy changes."""
    return "its target alone" if profile.policy_class == "direct" else "its target and what is below it"


_REFUSED: Final = "the other one is refused"
_BOTH: Final = "both apply, neither beats the other"
_ABOVE: Final[Mapping[MergeStrategy, str]] = {
    MergeStrategy.NONE: f"the one further up stands, and {_REFUSED}",
    MergeStrategy.ATOMIC_DEFAULTS: "the nearer one replaces the other one as a whole",
    MergeStrategy.ATOMIC_OVERRIDES: "the one further up replaces the other one as a whole",
    MergeStrategy.PATCH_DEFAULTS: "field by field, the nearer one wins",
    MergeStrategy.PATCH_OVERRIDES: "field by field, the one further up wins",
    MergeStrategy.STRATEGIC_MERGE: "field by field, the nearer one wins; lists merge by their keys",
    MergeStrategy.ALL_APPLY: _BOTH,
}
_STANZAS: Final = {
    "plural": "settings in defaults give way to a nearer policy, settings in overrides beat it: as a whole, or field"
    " by field where they say strategy: {merge}",
    "singular": "settings in default give way to a nearer policy, settings in override beat it, field by field; one"
    " policy may have both",
    "none": "settings stand in the spec itself, not in defaults or overrides",
    None: "",
}
_FOLD: Final = {
    "bottom-up": "the two nearest combine first, so that nothing below can undo an override",
    "top-down": "the two furthest up combine first",
    None: "",
}
_WITHIN: Final = {
    "level": "policies on one level",
    "levels": "levels one below the other, such as a route and the routes that it leads to",
    "scopes": "the scopes",
}


def _two(profile: PolicyKindProfile) -> Iterator[Saying]:
    yield "one further up", ("strategy",), above_words(profile)
    yield "on one target", ("same_level", "strategy", "refusal"), on_one_target_words(profile)
    like = "a policy on a route is refused if another route has a Gateway, port, hostname and path in common with it"
    yield "on like routes", ("overlap",), like if profile.overlap == "refused" else ""
    chosen = [f"{value}: {_above(profile, meaning)}" for value, meaning in profile.strategy_values.items()]
    means = "; ".join(chosen) or "by the name of a strategy, such as AtomicDefaults or PatchOverrides"
    field, above = profile.strategy_field, profile.strategy_from_above
    unsaid = "; one that chooses nothing does as the nearest one above it that does" if above else ""
    fields = ("strategy_field", "strategy_values", "strategy_from_above")
    yield "as chosen in", fields, field and f"{field} of each policy ({means}){unsaid}"
    stanzas = _STANZAS[profile.stanzas].format(merge=profile.stanza_merge or "patch")
    yield "stanzas", ("stanzas", "stanza_merge"), stanzas
    yield "who decides", ("chooser",), _chooser(profile)
    closest = profile.merges_with == "closest"
    where = f" on {levels_words(profile.merge_parents)}" if profile.merge_parents else ""
    every = "the closest policy" if closest else "every policy"
    yield "merges with", ("merges_with", "merge_parents"), f"{every} above it{where}" if where or closest else ""
    yield "of three", ("fold",), _FOLD[profile.fold]
    scopes = [f"those on {levels_words(scope.levels)}{_below(scope.protocols)}" for scope in profile.scopes]
    others = f"{'; '.join(scopes)}; all others. The narrower one wins each field"
    yield "by themselves", ("scopes",), others if scopes else ""
    yield "between routes", ("route_choice",), _route_choice(profile)
    by_number = [f"{profile.order_field}, the smallest number first"] if profile.order_field else []
    weight = profile.weight_annotation
    numbers = [*by_number, *([f"the annotation {weight}, the greatest number first"] if weight else [])]
    age = f"{', then '.join(numbers)}, and only then age"
    yield "ordered by", ("order_field", "weight_annotation"), age if numbers else ""
    yield "as one unit", ("whole_fields",), _whole(profile)
    maps = listed(sorted(profile.maps_in_stanzas))
    yield "as one unit", ("map_fields",), maps and f"{maps} in default and override"
    yield "together", ("shared_fields",), _shared(profile)
    port = profile.port_field
    instead = f"for its port, an entry of {port.field} stands instead of {port.instead_of}" if port else ""
    yield "for a port", ("port_field",), instead
    yield "ignored", ("ignored",), _ignored(profile)
    lists = (f"{name} by {key}" if key else f"{name} are appended" for name, key in profile.list_keys.items())
    yield "lists", ("list_keys",), "; ".join(lists)
    null = "a field set to null counts as not set"
    yield "nulls", ("nulls",), null if profile.nulls == "ignore" else ""
    without = profile.empty_without
    yield "empty", ("empty_without",), without and f"a policy without {without} replaces none further up"
    own = [f"its {theirs} for {ours}" for ours, theirs in profile.object_fields.items()]
    own += [_in_case(each) for each in profile.conditional_object_fields]
    beats = f"{listed(own)}; that beats every default and loses to every override" if own else ""
    yield "target's fields", ("object_fields", "conditional_object_fields"), beats
    yield "elsewhere", ("variants",), _variants(profile)
    worded = listed(list(dict.fromkeys(part.field for part in profile.summary if part.words)))
    yield "in short", ("summary",), worded and f"first {worded}, then the names of other fields"


def _in_case(own: ConditionalField) -> str:
    cases = [f"it has {own.given}"] if own.given else []
    cases += [f"it has no {own.absent}"] if own.absent else []
    return f"its {own.object_field} for {own.field}" + (f" where {listed(cases)}" if cases else "")


def above_words(profile: PolicyKindProfile) -> str:
    """Of two policies, one above the other."""
    if profile.policy_class == "direct":
        return ""
    chosen = profile.strategy_field or profile.stanzas in {"plural", "singular"}
    return ("unless they say otherwise, " if chosen else "") + _above(profile, profile.default_strategy)


def _above(profile: PolicyKindProfile, strategy: MergeStrategy) -> str:
    # A challenger that chooses cannot be beaten from above: it merges, or it replaces.
    beaten = {MergeStrategy.NONE, MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES}
    replaces = profile.chooser == "challenger" and strategy in beaten
    return _ABOVE[MergeStrategy.ATOMIC_DEFAULTS if replaces else strategy]


def on_one_target_words(profile: PolicyKindProfile) -> str:
    """Of two policies on one target."""
    extent = ", on all of its targets" if profile.refusal == "everywhere" else ""
    if profile.same_level == "one-applies":
        return f"the older one applies, and {_REFUSED}{extent}"
    if profile.same_level == "disjoint":
        return f"both apply unless they set a common field; then the newer one is refused{extent}"
    if profile.same_level == "all-apply":
        return _BOTH
    first_wins = profile.same_level == "first-wins" or (profile.same_level is None and profile.stanzas == "singular")
    # The older one stands where the one further up does, and where the first one wins.
    words = _ABOVE[profile.default_strategy].replace("the nearer", "the older" if first_wins else "the newer")
    older = "the heavier or else the older one" if profile.weight_annotation else "the older one"
    return words.replace("the one further up", "the older one").replace("the older one", older)


def _chooser(profile: PolicyKindProfile) -> str:
    if profile.chooser == "challenger":
        return "the nearer one says how"
    return "the one further up says how" if profile.strategy_field else ""


def _below(protocols: Iterable[str]) -> str:
    return f" (below {either(sorted(protocols))} listeners)" if protocols else ""


def _route_choice(profile: PolicyKindProfile) -> str:
    choice = profile.route_choice
    if choice is None:
        return ""
    values = [
        f"{value}: {_ABOVE[means.strategy]}"
        + ("; joint fields are put together" if means.joint else "")
        + (", the further route's first" if means.joint is MergeStrategy.PATCH_OVERRIDES else "")
        for value, means in choice.values.items()
    ]
    if choice.listed:
        values.append(f"a list of fields below {choice.listed.below}: of these, {_ABOVE[choice.listed.strategy]}")
    return f"the annotation {choice.annotation} of the route that leads to the other one ({'; '.join(values)})"


def _whole(profile: PolicyKindProfile) -> str:
    units: list[str] = []
    for field in sorted(profile.whole_fields):
        path, _, key = field.rstrip("]").partition("[")
        entry = f"each entry of {field.removesuffix('.*')}" if field.endswith(".*") else field
        units.append(f"each element of {path}, by its {key}" if key else "each field" if field == "*" else entry)
    return listed(units)


def _shared(profile: PolicyKindProfile) -> Iterator[str]:
    for field in profile.shared_fields:
        entries = f"elements by their {field.by[1:-1]}" if field.by.startswith("[") else f"entries by {field.by}"
        of = {"": "what each policy says", "*": "its fields, each from one policy"}.get(field.by, entries)
        among = either([_WITHIN[within] for within in field.within])
        unless = f", unless they disagree on {either(field.unless)}" if field.unless else ""
        yield f"{field.field}: {of}, among {among}{unless}"


def _counting(profile: PolicyKindProfile) -> str:
    return f"only this counts: {listed(sorted(profile.counting_fields))}" if profile.counting_fields else ""


def _ignored(profile: PolicyKindProfile) -> Iterator[str]:
    """What controllers ignore, part by part."""
    for part in profile.ignored:
        where = f", where it is {either(sorted(part.values))}," if part.values else ""
        fields = listed(part.fields) if part.fields else "policies"
        yield f"{fields}{where} on {levels_words(part.levels)}{_below(part.protocols)}"


def _ignored_words(profile: PolicyKindProfile) -> str:
    return "; ".join(_ignored(profile))


_VARYING: Final = (
    (above_words, ""),
    (on_one_target_words, "on one target "),
    (_chooser, "where they choose, "),
    (_whole, "as one unit: "),
    (_counting, ""),
    (_ignored_words, "ignored: "),
)


def _variants(profile: PolicyKindProfile) -> str:
    differing: dict[str, list[GroupKind]] = {}
    for kind in (kind for variant in profile.variants for kind in sorted(variant.targets)):
        there = profile.at(kind)
        said = [f"{lead}{words(there) or 'nothing'}" for words, lead in _VARYING if words(there) != words(profile)]
        if said:
            differing.setdefault("; ".join(said), []).append(kind)
    return ". ".join(f"At {kinds_words(kinds)}, {text}" for text, kinds in differing.items())


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
    said: dict[str, list[str]] = {}
    for event, words in status.conditions.items():
        for condition in words:
            said.setdefault(f"{condition.type} {condition.status} ({condition.reason})", []).append(meanings[event])
    for condition_words, events in said.items():
        yield f"{condition_words} if {either(events)}"
    if status.target_annotation:
        yield f"the annotation {status.target_annotation} of a target names the policies attached to it"
