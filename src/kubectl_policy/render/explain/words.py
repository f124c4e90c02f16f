"""What each field of a policy kind's profile means, in words: a row for each, or for those that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import GroupKind
from kubectl_policy.model.values import value
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.render.words.names import either, kinds_words, levels_words, listed, section_noun
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Event, Placement, StatusProfile
    from kubectl_policy.profiles.merging import Inheritance, SharedField
    from kubectl_policy.questions.explain.kinds import Basis, Explanation

TARGETS: Final = "What a policy targets"
EFFECT: Final = "What it changes"
TWO: Final = "How two policies combine"
REPORT: Final = "What its controllers report"

# The words for the value of a field: around it, for some of its values, or computed of the whole profile. They are
# empty where there is nothing to say, which is so of most fields that nobody has set.
Words: TypeAlias = "str | Mapping[str, str] | Callable[[PolicyKindProfile], str | tuple[str, ...]]"


@value()
class Saying:
    """What some fields that belong together say: below which heading, under which label, in which words.

    Words around a value, or for some values, are about the first of the fields.
    """

    topic: str
    label: str
    fields: tuple[str, ...]
    words: Words

    def texts(self, profile: PolicyKindProfile) -> tuple[str, ...]:
        """What they say of a kind; several texts are said one below the other."""
        words = self.words
        if isinstance(words, str | Mapping):
            said = getattr(profile, self.fields[0])
            text = words.get(said, "") if isinstance(words, Mapping) else words.format(said) if said else ""
            return (text,) if text else ()
        texts = words(profile)
        return tuple(filter(None, (texts,) if isinstance(texts, str) else texts))


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
    for saying in SAYINGS:
        basis = explanation.basis(*saying.fields)
        if profile.attaches_as_known or basis != "default":
            for text in saying.texts(profile):
                yield Statement(topic=saying.topic, label=saying.label, fields=saying.fields, text=text, basis=basis)


_WITH_SECTIONS: Final = (*WITH_LISTENERS, *ROUTES, *WITH_PORTS)


def _named(profile: PolicyKindProfile) -> str:
    if profile.attachment == "filters":
        return "filters of routes alone"
    if not profile.target_fields:
        return "in a way that is not computed, so nothing is claimed about what a policy affects"
    otherwise = "" if profile.references_alone else "; without any, a policy attaches in a way that is not computed"
    return either(profile.target_fields) + otherwise


def _filters(profile: PolicyKindProfile) -> str:
    if not profile.filter_routes:
        return ""
    backends = "; a filter of a backendRef may do so too, for that backend alone" if profile.backend_filters else ""
    rules = f"a filter of type ExtensionRef in a rule of {kinds_words(profile.filter_routes)} may name a policy"
    return f"{rules}, which then comes before all others on that rule{backends}"


def _allowed(profile: PolicyKindProfile) -> str:
    kinds = profile.declared_targets
    sections = dict.fromkeys(section_noun(kind) for kind in _WITH_SECTIONS if kind in kinds or not kinds)
    meaning = f"; sectionName, where there is one, names one {either(tuple(sections))} of it"
    part = meaning if sections and profile.target_fields else ""
    return (kinds_words(kinds) if kinds else "an object of any kind" if profile.target_fields else "") + part


def _virtual(profile: PolicyKindProfile) -> str:
    return f"{kinds_words(profile.virtual_targets)}, which no API serves" if profile.virtual_targets else ""


def _unnamed(profile: PolicyKindProfile) -> str:
    first, second = (profile.unnamed_rules.replace("{n}", number) for number in "12")
    return profile.unnamed_rules and f"{first}, {second} and so on, by their place in the route"


def _namespaces(profile: PolicyKindProfile) -> str:
    if profile.cross_namespace is False:
        return "that of the policy alone"
    if not profile.attaches_as_known:
        return ""
    return "that of the policy; another one " + (
        "where a ReferenceGrant permits it" if profile.grant_required else "as well, without a ReferenceGrant"
    )


def _needs(profile: PolicyKindProfile) -> str:
    return "; ".join(
        f"{need.field}{' (if given)' if need.optional else ''}, which names "
        + kinds_words(GroupKind(need.group, kind) for kind in need.kinds)
        + "".join(f" ({kind} has no namespace)" for kind in sorted(need.cluster_kinds))
        for need in profile.needs
    )


def _enabled(profile: PolicyKindProfile) -> str:
    enabling = profile.enabled_by
    if enabling is None:
        return ""
    without = "; a Gateway without one is taken to have it" if enabling.without == "allowed" else ""
    return f"{enabling.field}, in the {enabling.group_kind.kind} that is the Gateway's parameters{without}"


def _sizes(profile: PolicyKindProfile) -> str:
    return "; ".join(f"{size} must not be less than {either(least)}" for size, least in profile.least_sizes.items())


def _backends(profile: PolicyKindProfile) -> str:
    fields = listed(profile.backend_fields)
    return fields and f"a policy sends requests of its own to those in {fields}"


def reach_words(profile: PolicyKindProfile) -> str:
    """What a policy changes."""
    return "its target alone" if profile.policy_class == "direct" else "its target and what is below it"


def _effect(profile: PolicyKindProfile) -> str:
    levels = profile.effective_targets
    if levels:
        return f"at {levels_words(levels)}" + ("; of several on one path, at the last" if len(levels) > 1 else "")
    return "at its target" if profile.policy_class == "direct" else "where each path ends, at a Service for example"


def _sections(profile: PolicyKindProfile) -> str:
    relation = profile.sections or ("replace" if profile.policy_class == "direct" else "")
    verb = {"refine": "adds to", "replace": "stands there in place of"}.get(relation)
    return f"a policy on a section {verb} the one on the whole object" if verb else ""


def _security(profile: PolicyKindProfile) -> str:
    fields = "any field" if "*" in profile.security_fields else either(sorted(profile.security_fields))
    return fields and f"a protection is lost with {fields}"


def _controllers(profile: PolicyKindProfile) -> str:
    return f"of {either(sorted(profile.controllers))} alone" if profile.controllers else "of every controller"


def _settings(profile: PolicyKindProfile) -> str:
    return "; ".join(
        f"{name} = {setting.default or 'nothing'}, unless you say otherwise: {setting.description}"
        for name, setting in profile.settings.items()
    )


_REFUSED: Final = "the other one is refused"
_BOTH: Final = "both apply, none beats the other"
_ABOVE: Final[Mapping[MergeStrategy, str]] = {
    MergeStrategy.NONE: f"the one further up stands, and {_REFUSED}",
    MergeStrategy.ATOMIC_DEFAULTS: "the nearer one replaces the other one as a whole",
    MergeStrategy.ATOMIC_OVERRIDES: "the one further up replaces the other one as a whole",
    MergeStrategy.PATCH_DEFAULTS: "field by field, the nearer one wins",
    MergeStrategy.PATCH_OVERRIDES: "field by field, the one further up wins",
    MergeStrategy.STRATEGIC_MERGE: "field by field, the nearer one wins; lists merge by their keys",
    MergeStrategy.ALL_APPLY: _BOTH,
}
_MERGING: Final = frozenset({MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE})


def above_words(profile: PolicyKindProfile) -> str:
    """Of two policies, one above the other."""
    if profile.policy_class == "direct":
        return ""
    chosen = profile.strategy_field or profile.stanzas in {"plural", "singular"}
    return ("unless they say otherwise, " if chosen else "") + _above(profile, profile.default_strategy)


def _above(profile: PolicyKindProfile, strategy: MergeStrategy) -> str:
    # A challenger that chooses cannot be beaten from above: it merges, or it replaces.
    replaces = profile.chooser == "challenger" and strategy not in {*_MERGING, MergeStrategy.ALL_APPLY}
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
    strategy = profile.default_strategy
    first_wins = profile.same_level == "first-wins" or (profile.same_level is None and profile.stanzas == "singular")
    # The older one stands where the one further up does, and where the first one wins.
    nearer = "older" if first_wins else "newer"
    words = (
        _ABOVE[strategy].replace("the nearer one", f"the {nearer} one").replace("the one further up", "the older one")
    )
    return words.replace("the older one", "the heavier or else the older one") if profile.weight_annotation else words


def _as_chosen(profile: PolicyKindProfile) -> str:
    if not profile.strategy_field:
        return ""
    named = [f"{value}: {_above(profile, meaning)}" for value, meaning in profile.strategy_values.items()]
    means = "; ".join(named) or "by the name of a strategy, such as AtomicDefaults or PatchOverrides"
    return f"{profile.strategy_field} of each policy ({means})"


_STANZAS: Final = {
    "plural": "settings in defaults give way to a nearer policy, settings in overrides beat it: as a whole, or field"
    " by field where they say strategy: patch",
    "singular": "settings in default give way to a nearer policy, settings in override beat it, field by field; one"
    " policy may have both",
    "none": "settings stand in the spec itself, not in defaults or overrides",
}
_FOLD: Final = {
    "bottom-up": "the two nearest combine first, so that nothing below can undo an override",
    "top-down": "the two furthest up combine first",
}
_OVERLAP: Final = {
    "refused": "a policy on a route is refused if another route has a Gateway, port, hostname and path in common with"
    " it"
}


def _chooser(profile: PolicyKindProfile) -> str:
    if profile.chooser == "challenger":
        return "the nearer one says how"
    return "the one further up says how" if profile.strategy_field else ""


def _merges_with(profile: PolicyKindProfile) -> str:
    which = "the closest policy" if profile.merges_with == "closest" else "every policy"
    where = f" on {levels_words(profile.merge_parents)}" if profile.merge_parents else ""
    return f"{which} above it{where}" if where or profile.merges_with == "closest" else ""


def _scopes(profile: PolicyKindProfile) -> str:
    scopes = [f"those on {levels_words(scope.levels)}{_below(scope.protocols)}" for scope in profile.scopes]
    return f"{'; '.join(scopes)}; all others. The narrower one wins each field" if scopes else ""


def _below(protocols: Iterable[str]) -> str:
    return f" (below {either(sorted(protocols))} listeners)" if protocols else ""


def _route_choice(profile: PolicyKindProfile) -> str:
    choice = profile.route_choice
    if choice is None:
        return ""
    values = [f"{value}: {_inheritance(means)}" for value, means in choice.values.items()]
    if choice.listed:
        values.append(f"a list of fields below {choice.listed.below}: of these, {_ABOVE[choice.listed.strategy]}")
    return f"the annotation {choice.annotation} of the route that leads to the other one ({'; '.join(values)})"


def _inheritance(means: Inheritance) -> str:
    joint = "; joint fields are put together" if means.joint else ""
    first = ", the further route's first" if means.joint is MergeStrategy.PATCH_OVERRIDES else ""
    return _ABOVE[means.strategy] + joint + first


def _order(profile: PolicyKindProfile) -> str:
    annotation = profile.weight_annotation
    numbers = [f"{profile.order_field}, the smallest number first"] if profile.order_field else []
    numbers += [f"the annotation {annotation}, the greatest number first"] if annotation else []
    return f"{', then '.join(numbers)}, and only then age" if numbers else ""


def _whole(profile: PolicyKindProfile) -> str:
    return listed([_unit(field) for field in sorted(profile.whole_fields)])


def _unit(field: str) -> str:
    path, _, key = field.rstrip("]").partition("[")
    if key:
        return f"each element of {path}, by its {key}"
    if field == "*":
        return "each field"
    return f"each entry of {field.removesuffix('.*')}" if field.endswith(".*") else field


def _maps(profile: PolicyKindProfile) -> str:
    stanzas = [field.partition(".") for field in profile.map_fields] if profile.stanzas in {None, "singular"} else []
    found = {rest for stanza, _, rest in stanzas if stanza in {"default", "override"} and rest}
    return f"{listed(sorted(found))} in default and override" if found else ""


_WITHIN: Final = {
    "level": "policies on one level",
    "levels": "levels one below the other, such as a route and the routes that it leads to",
    "scopes": "the scopes",
}


def _shared(field: SharedField) -> str:
    entries = f"elements by their {field.by[1:-1]}" if field.by.startswith("[") else f"entries by {field.by}"
    of = {"": "what each policy says", "*": "its fields, each from one policy"}.get(field.by, entries)
    among = either([_WITHIN[within] for within in field.within])
    unless = f", unless they disagree on {either(field.unless)}" if field.unless else ""
    return f"{field.field}: {of}, among {among}{unless}"


def _port(profile: PolicyKindProfile) -> str:
    said = profile.port_field
    return f"for its port, an entry of {said.field} stands instead of {said.instead_of}" if said else ""


def _ignored(profile: PolicyKindProfile) -> tuple[str, ...]:
    return tuple(
        f"{listed(part.fields) if part.fields else 'policies'}{_where_it_is(part.values)} "
        f"on {levels_words(part.levels)}{_below(part.protocols)}"
        for part in profile.ignored
    )


def _where_it_is(values: Collection[str]) -> str:
    return f", where it is {either(sorted(values))}," if values else ""


def _lists(profile: PolicyKindProfile) -> str:
    return "; ".join(f"{name} by {key}" if key else f"{name} are appended" for name, key in profile.list_keys.items())


def _object_fields(profile: PolicyKindProfile) -> str:
    pairs = [f"its {theirs} for {ours}" for ours, theirs in profile.object_fields.items()]
    return f"{listed(pairs)}; that beats every default and loses to every override" if pairs else ""


_VARYING: Final[tuple[tuple[Callable[[PolicyKindProfile], str], str], ...]] = (
    (above_words, ""),
    (on_one_target_words, "on one target "),
    (_chooser, "where they choose, "),
    (_whole, "as one unit: "),
)


def _variants(profile: PolicyKindProfile) -> str:
    differing: dict[str, list[GroupKind]] = {}
    for kind in (kind for variant in profile.variants for kind in sorted(variant.targets)):
        there = profile.at(kind)
        said = [(words(there) or "nothing", lead) for words, lead in _VARYING if words(there) != words(profile)]
        if said:
            differing.setdefault("; ".join(f"{lead}{text}" for text, lead in said), []).append(kind)
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


def _status(status: StatusProfile) -> Iterator[str]:
    yield from _conditions(status)
    if status.target_annotation:
        yield f"the annotation {status.target_annotation} of a target names the policies attached to it"


def _conditions(status: StatusProfile) -> Iterator[str]:
    if not status.conditions:
        yield "nothing that is known"
        return
    yield f"in {_PLACES[status.placement]}"
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


def _status_by(profile: PolicyKindProfile) -> tuple[str, ...]:
    return tuple(
        f"by {name}, {line}" if line.startswith("in ") else line
        for name, status in profile.status_by.items()
        for line in _status(status)
    )


_BY_TOPIC: Final[Mapping[str, tuple[tuple[str, tuple[str, ...], Words], ...]]] = {
    TARGETS: (
        ("named in", ("reference_fields", "attachment"), _named),
        ("by filters", ("filter_routes", "backend_filters"), _filters),
        ("may be", ("declared_targets",), _allowed),
        ("or also", ("virtual_targets",), _virtual),
        ("no group", ("target_group",), "a reference without a group means {}"),
        ("unnamed rules", ("unnamed_rules",), _unnamed),
        ("namespace", ("cross_namespace", "grant_required"), _namespaces),
        (
            "there",
            ("targets_exist",),
            {"whenReferred": "if a route sends requests to it, whether or not there is such an object"},
        ),
        ("enabled by", ("enabled_by",), _enabled),
        ("sizes", ("least_sizes",), _sizes),
        (
            "if invalid",
            ("when_invalid",),
            {"errors": "requests to the targets of an invalid policy get an error response"},
        ),
        ("selectors", ("empty_selector",), {"nothing": "a selector without any requirement selects nothing"}),
        ("everywhere", ("global_namespace",), "policies in namespace {} may select objects in every namespace"),
        ("must have", ("needs",), _needs),
        ("not shared", ("exclusive_field",), "no two targets may have an entry of {} in common"),
        ("idle", ("target_status",), "without {} in its target, a policy does nothing"),
        ("backends", ("backend_fields",), _backends),
    ),
    EFFECT: (
        ("reach", ("policy_class",), reach_words),
        ("takes effect", ("effective_targets",), _effect),
        (
            "hostnames",
            ("hostnames",),
            {"inside": "a path counts only if a hostname of the route is inside the listener's"},
        ),
        ("on sections", ("sections",), _sections),
        ("security", ("security_fields",), _security),
        ("on Gateways", ("controllers",), _controllers),
        ("set up as", ("settings",), _settings),
    ),
    TWO: (
        ("one further up", ("strategy",), above_words),
        ("on one target", ("same_level", "strategy", "refusal"), on_one_target_words),
        ("on like routes", ("overlap",), _OVERLAP),
        ("as chosen in", ("strategy_field", "strategy_values"), _as_chosen),
        ("stanzas", ("stanzas",), _STANZAS),
        ("who decides", ("chooser",), _chooser),
        ("merges with", ("merges_with", "merge_parents"), _merges_with),
        ("of three", ("fold",), _FOLD),
        ("by themselves", ("scopes",), _scopes),
        ("between routes", ("route_choice",), _route_choice),
        ("ordered by", ("order_field", "weight_annotation"), _order),
        ("as one unit", ("whole_fields",), _whole),
        ("as one unit", ("map_fields",), _maps),
        ("together", ("shared_fields",), lambda profile: tuple(map(_shared, profile.shared_fields))),
        ("for a port", ("port_field",), _port),
        ("ignored", ("ignored",), _ignored),
        ("lists", ("list_keys",), _lists),
        ("nulls", ("nulls",), {"ignore": "a field set to null counts as not set"}),
        ("empty", ("empty_without",), "a policy without {} replaces none further up"),
        ("target's fields", ("object_fields",), _object_fields),
        ("elsewhere", ("variants",), _variants),
    ),
    REPORT: (
        ("conditions", ("status",), lambda profile: tuple(_status(profile.status))),
        ("otherwise", ("status_by",), _status_by),
    ),
}
SAYINGS: Final = tuple(Saying(topic, *row) for topic, rows in _BY_TOPIC.items() for row in rows)
