"""Contributions: the stanzas of a policy on a path as traced specs, with shared fields split into parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.fields import FieldPath, mapping_at, text_at, value_at
from kubectl_policy.profiles.merging import GEP_STRATEGIES, IgnoredPart, JointField, MergeStrategy, Within
from kubectl_policy.profiles.reading import NOTHING
from kubectl_policy.resolution.traced import (
    CollectedValues,
    Field,
    KeyedList,
    Leaf,
    Source,
    Traced,
    leaves,
    list_elements,
    only_field,
    trace,
    with_element_apart,
    with_lists_whole,
    without,
)

if TYPE_CHECKING:
    from kubectl_policy.attachment.attachment import IgnoredSetting
    from kubectl_policy.model import Json, NodeRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.fields import Stanzas
    from kubectl_policy.topology.gateway.listeners import Listener

_STYLES: Final[tuple[tuple[Stanzas, str, str], ...]] = (
    ("plural", "overrides", "defaults"),
    ("singular", "override", "default"),
)
NOBODY: Final[frozenset[Source]] = frozenset()
# The stanzas of GEP-713's experimental text, which merges field by field and lets the first created win.
EXPERIMENTAL: Final = frozenset({"spec.override", "spec.default"})


class Contribution(Struct, frozen=True, kw_only=True):
    """The part of one policy, attached at one node of a path, in the effective policy there."""

    source: Source
    spec: Traced
    strategy: MergeStrategy
    # Where the policy declares it: `spec`, or a stanza (`spec.overrides`).
    field: str = "spec"
    # Whether it replaces no contribution further up.
    empty: bool = False
    # Whether neither the policy nor anything about its kind says the strategy.
    guessed: bool = False
    # Whether the policy itself says the strategy.
    chosen: bool = False
    # Fields of the spec that controllers ignore once policies are merged, each with the reason.
    ignored: tuple[tuple[Field, str], ...] = ()
    # The annotations of the policy by which controllers ignore it, or some of its fields.
    annotations: Mapping[str, str] = NOTHING
    # The reason why the policy is invalid, so that requests get an error response where it wins; "" if it is valid.
    invalid: str = ""


class DeclaredStanza(Struct, frozen=True):
    """One part of a policy that merges by one strategy. `field` is where it stands (`spec.overrides`).

    `guessed` is whether nobody says that strategy.
    """

    field: str
    strategy: MergeStrategy
    spec: Mapping[str, Json]
    guessed: bool = False


def contributions_of(
    policy: Resource,
    node: NodeRef,
    profile: PolicyKindProfile,
    filter_place: int = 0,
    ignored: Iterable[IgnoredSetting] = (),
) -> Iterator[Contribution]:
    """Return the contributions of a policy by way of a node.

    `filter_place` is the position of the filter that names the policy there, and `ignored` are settings that
    controllers ignore wherever it is attached.
    """
    annotations = policy_annotations(policy.raw, profile)
    for stanza in stanzas_of(policy.raw, profile):
        source = Source(object=policy.ref, target=node, overrides=stanza.strategy.overrides, filter=filter_place)
        written = None if policy.written is None else mapping_at(policy.written, stanza.field)
        part = contribution_of(source, stanza, profile, written)
        for setting in ignored:
            part = _with_ignored_setting(part, setting, profile)
        if annotations:
            part = replace(part, annotations=annotations)
        yield (
            replace(part, chosen=True)
            if profile.strategy_field and value_at(policy.raw, profile.strategy_field)
            else part
        )


def policy_annotations(raw: Mapping[str, Json], profile: PolicyKindProfile) -> Mapping[str, str]:
    """Return the annotations of a policy by which its controllers may ignore it, or some of its fields."""
    names = {name for part in profile.ignored for name in part.annotations}
    annotations = mapping_at(raw, "metadata.annotations") if names else NOTHING
    return {name: str(value) for name, value in annotations.items() if name in names}


def _with_ignored_setting(part: Contribution, setting: IgnoredSetting, profile: PolicyKindProfile) -> Contribution:
    """Return a contribution that knows of a setting that controllers ignore, if it brings the setting.

    Of a list with such an element, each element is a field of its own.
    """
    stanza = FieldPath.parse(part.field)
    if not stanza.holds(setting.field.steps):
        return part
    steps = setting.field.steps[len(stanza.steps) :]
    if stands_below_name(profile, part.strategy):
        steps = (part.source.object.qualified_name, *steps)
    spec, field = with_element_apart(part.spec, steps) if steps else (part.spec, ())
    if steps and not field:
        return part
    return replace(part, spec=spec, ignored=(*part.ignored, (field, setting.reason)))


def stanzas_of(raw: Mapping[str, Json], profile: PolicyKindProfile) -> tuple[DeclaredStanza, ...]:
    """Return the stanzas of a policy, overrides first; the bare spec is one stanza, even an empty one.

    Where it is not known whether a kind has stanzas, `defaults` and `overrides` (or `default` and `override`) count as
    such only if the spec holds nothing else, since a kind may have a field of that name; or if one says its strategy.
    """
    keys, fields = profile.references
    spec = mapping_at(raw, "spec")
    spec = {key: setting for key, setting in spec.items() if key not in keys}
    for path in fields:
        spec = mapping_at(FieldPath.parse(path).remove({"spec": spec}, with_empty=True), "spec")
    for style, overrides, defaults in _STYLES:
        if profile.stanzas == style or (profile.stanzas is None and _has_stanzas(spec, overrides, defaults)):
            by_itself = profile.strategy_field and profile.known_by != "profile"
            chosen = text_at(raw, profile.strategy_field).lower() if by_itself else ""
            named = [
                _stanza(f"spec.{name}", mapping_at(spec, name), profile, chosen, is_override=name == overrides)
                for name in (overrides, defaults)
                if isinstance(spec.get(name), Mapping)
            ]
            rest = {key: value for key, value in spec.items() if key not in {overrides, defaults}}
            bare = [_bare_stanza(raw, rest, profile)] if rest or not named else []
            return tuple(named + bare)
    return (_bare_stanza(raw, spec, profile),)


def _has_stanzas(spec: Mapping[str, Json], *names: str) -> bool:
    """Whether a spec, of whose kind nothing says it, has stanzas of these names."""
    stanzas = [name for name in names if name in spec]
    if not stanzas:
        return False
    without_settings = len(spec) == len(stanzas)
    return without_settings or any(text_at(spec[name], "strategy").lower() in GEP_STRATEGIES for name in stanzas)


def _stanza(
    field: str, spec: Mapping[str, Json], profile: PolicyKindProfile, of_policy: str, *, is_override: bool
) -> DeclaredStanza:
    """Return one stanza: the experimental GEP-713 text merges field by field, the current one is atomic by default.

    The stanza chooses its strategy, or else the policy as a whole does. A `strategy` that is none of GEP-713's is a
    setting, unless the kind has a profile.
    """
    experimental, declared = field in EXPERIMENTAL, text_at(spec, "strategy").lower()
    is_setting = experimental or (profile.known_by != "profile" and declared not in GEP_STRATEGIES)
    chosen = of_policy if is_setting else declared or of_policy
    by_default = not chosen and profile.strategy in {MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES}
    patches = experimental or GEP_STRATEGIES.get(chosen) is MergeStrategy.PATCH_DEFAULTS or by_default
    settings = {key: value for key, value in spec.items() if is_setting or key != "strategy"}
    if is_override:
        strategy = MergeStrategy.PATCH_OVERRIDES if patches else MergeStrategy.ATOMIC_OVERRIDES
    else:
        strategy = MergeStrategy.PATCH_DEFAULTS if patches else MergeStrategy.ATOMIC_DEFAULTS
    return DeclaredStanza(field, strategy, settings)


def _bare_stanza(raw: Mapping[str, Json], spec: Mapping[str, Json], profile: PolicyKindProfile) -> DeclaredStanza:
    chosen = text_at(raw, profile.strategy_field) if profile.strategy_field else ""
    strategy = profile.strategy_values.get(chosen)
    if strategy is None and chosen:
        strategy = MergeStrategy.named(chosen) or MergeStrategy.named(f"{chosen} defaults")
    guessed = strategy is None and profile.combines_by_guess
    return DeclaredStanza("spec", strategy or profile.default_strategy, spec, guessed)


def contribution_of(
    source: Source, stanza: DeclaredStanza, profile: PolicyKindProfile, written: Mapping[str, Json] | None = None
) -> Contribution:
    """Return the contribution of a stanza by way of one target; settings that are not `written` are defaulted.

    Where all policies of a kind apply, each keeps its settings below its own name.
    """
    spec = without_nulls(stanza.spec) if profile.nulls == "ignore" else stanza.spec
    empty = bool(profile.empty_without) and not value_at(spec, profile.empty_without)
    whole = _whole_paths(profile, stanza.field)
    if stands_below_name(profile, stanza.strategy):
        name = source.object.qualified_name
        spec, whole = {name: dict(spec)}, [(name, *field) for field in whole]
        written = None if written is None else {name: dict(written)}
    traced = split_shared(trace(spec, source, whole, written), profile.joint_fields)
    return Contribution(
        source=source, spec=traced, strategy=stanza.strategy, field=stanza.field, empty=empty, guessed=stanza.guessed
    )


def with_chosen_strategies(contributions: Iterable[Contribution]) -> Iterator[Contribution]:
    """Give contributions that choose no strategy that of the nearest one before them that does."""
    chosen: MergeStrategy | None = None
    for part in contributions:
        chosen = part.strategy if part.chosen else chosen
        yield replace(part, strategy=chosen) if chosen else part


def stands_below_name(profile: PolicyKindProfile, strategy: MergeStrategy) -> bool:
    """Whether the settings of a policy stand below its name, because it is in force together with others."""
    return profile.all_apply or strategy is MergeStrategy.ALL_APPLY


def _whole_paths(profile: PolicyKindProfile, stanza: str) -> list[Field]:
    """Return the fields below a stanza that a merge takes whole from one policy.

    The experimental GEP-713 text replaces maps of scalars whole; RFC 7386, which the current one names, does not. What
    is shared is taken apart by what the profile says of it, and by nothing else.
    """
    if not (profile.whole_fields or profile.joint_fields or stanza in EXPERIMENTAL):
        return []
    fields = profile.whole_fields | {shared.field for shared in profile.joint_fields}
    if stanza in EXPERIMENTAL:
        prefix = stanza.removeprefix("spec.") + "."
        fields |= {field.removeprefix(prefix) for field in profile.map_fields if field.startswith(prefix)}
    return [tuple(field.split(".")) for field in sorted(fields)]


def without_nulls(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return settings without the fields that are null, also those of fields."""
    return {
        key: dict(without_nulls(child)) if isinstance(child, dict) else child
        for key, child in value.items()
        if child is not None
    }


def field_of(shared: JointField) -> Field:
    """Return the path of keys of a shared field."""
    return _keys(shared.field)


def _keys(name: str) -> Field:
    return tuple(name.split("."))


def whole_fields(shared: Sequence[JointField], within: Within) -> frozenset[Field]:
    """Return the shared fields that all the same come whole from one policy here."""
    combined = {shared_field.field for shared_field in shared if within in shared_field.within}
    return frozenset(field_of(shared_field) for shared_field in shared if shared_field.field not in combined)


def combined_fields(shared: Sequence[JointField], within: Within) -> list[Field]:
    """Return the shared fields that merge here, outermost first, but those inside one that comes whole."""
    whole = whole_fields(shared, within)
    combined = {field_of(shared_field) for shared_field in shared if within in shared_field.within}
    return sorted(field for field in combined if not _enclosing(field, whole))


def unshared_fields(spec: Traced, shared: Sequence[JointField]) -> list[Field]:
    """Return the fields of a spec that another policy on the level cannot set as well, each once."""
    combined, whole = combined_fields(shared, "level"), sorted(whole_fields(shared, "level"))
    unshared = [field for field, _ in leaves(spec) if not _enclosing(field, combined)]
    return list(dict.fromkeys(_enclosing(field, whole) or field for field in unshared))


def _enclosing(field: Field, fields: Iterable[Field]) -> Field:
    """Return the first of some fields that is the given one or holds it; empty if none is."""
    return next((outer for outer in fields if field[: len(outer)] == outer), ())


def split_shared(spec: Traced, shared: Sequence[JointField]) -> Traced:
    """Return a spec in which every shared field is taken apart into what can come from different policies."""
    for shared_field in shared:
        spec = _split_at(spec, field_of(shared_field), shared_field.by)
    return spec


def _split_at(spec: Traced, field: Field, by: str) -> Traced:
    key, *rest = field
    child = spec.get(key)
    if child is None or (rest and isinstance(child, Leaf)):
        return spec
    if isinstance(child, Leaf):
        return {**spec, key: child if child.removed else _split_leaf(child, by)}
    return {**spec, key: _split_at(child, tuple(rest), by)} if rest else spec


def _split_leaf(leaf: Leaf, by: str) -> Leaf | Traced:
    if by.startswith("["):
        return list_elements(leaf, by.strip("[]"), deep=True)
    if by == "*":
        if not isinstance(leaf.value, Mapping) or not leaf.value:
            return leaf
        return {
            key: Leaf(child, leaf.source, removed=child is None, defaulted=leaf.defaulted)
            for key, child in leaf.value.items()
        }
    if by:
        entry = _entry_key(value_at(leaf.value, by), leaf.source.object.namespace)
        return CollectedValues({entry: leaf}) if entry else leaf
    if isinstance(leaf.value, list):
        return list_elements(leaf, "")
    return CollectedValues({leaf.source.object.qualified_name: leaf})


def _entry_key(value: Json, home: str) -> str:
    """Return the key of an entry: a text, or a reference, whose namespace defaults to that of the policy."""
    if isinstance(value, Mapping):
        name = text_at(value, "name")
        return f"{text_at(value, 'namespace') or home}/{name}" if name else ""
    return value if isinstance(value, str) else ""


def counting_part(part: Contribution, profile: PolicyKindProfile, listener: Listener | None) -> Contribution | None:
    """Return the part of a contribution that controllers heed on a path by way of a listener; None if there is none."""
    spec = part.spec
    prefix = (part.source.object.qualified_name,) if stands_below_name(profile, part.strategy) else ()
    for rule in profile.ignored:
        if rule.includes(part.source.target, listener.protocol if listener else "") and rule.concerns(part.annotations):
            if not rule.fields:
                return None
            import json  # noqa: PLC0415 (few kinds ignore a value)

            for field in rule.fields:
                keys = (*prefix, *field.split("."))
                values = (json.dumps(leaf.value) for _, leaf in leaves(only_field(spec, keys)))
                if not rule.values or any(value in rule.values for value in values):
                    spec = without(spec, keys)
    for name, _ in leaves(spec) if profile.counting_fields is not None else ():
        if not profile.counts(".".join(name[len(prefix) :])):
            spec = without(spec, name)
    entries = spec.get(profile.port_field.field) if profile.port_field and listener else None
    if profile.port_field and listener and isinstance(entries, KeyedList):
        ours = KeyedList({key: entry for key, entry in entries.items() if key == str(listener.port)})
        port_field = profile.port_field.field
        spec = {**spec, port_field: ours} if ours else without(spec, [port_field])
    if spec is part.spec:
        return part
    return replace(part, spec=spec) if spec else None


def ignored_fields(
    part: Contribution, counting: Contribution | None, profile: PolicyKindProfile
) -> Mapping[Field, str]:
    """Return the fields of a contribution that do not count, with the reasons; "" if the reason depends on the path.

    Some do not count in the first place, and others once policies are merged.
    """
    reasons: dict[Field, str] = {}
    if part is not counting:
        counted = {field for field, _ in leaves(counting.spec)} if counting else frozenset[Field]()
        ignoring = [rule for rule in profile.ignored if rule.annotation_among(part.annotations)]
        for field, _ in leaves(part.spec):
            if field not in counted:
                rules = (rule for rule in ignoring if not rule.fields or _enclosing(field, map(_keys, rule.fields)))
                reasons[field] = next((_annotation_phrase(part, rule) for rule in rules), "")
    for outer, reason in part.ignored:
        reasons |= {field: reason for field, _ in leaves(part.spec) if field[: len(outer)] == outer}
    return reasons


def _annotation_phrase(part: Contribution, rule: IgnoredPart) -> str:
    name = rule.annotation_among(part.annotations)
    return f"annotation {name} of {part.source.object} is {part.annotations[name]}"


def without_ignored(spec: Traced, ignored: Mapping[tuple[Source, Field], str]) -> Traced:
    """Return a merged spec without the fields that controllers ignore; the very same one if it has none of them."""
    is_changed = False
    for source, field in ignored:
        current = only_field(spec, field)
        if any(leaf.source == source for _, leaf in leaves(current)):
            spec = without(spec, field)
            is_changed = True
    return with_lists_whole(spec) if is_changed else spec


def sources_for_port(spec: Traced, profile: PolicyKindProfile, listener: Listener | None) -> frozenset[Source]:
    """Return the sources of settings for the listener's port, which replace those for every port."""
    entries = spec.get(profile.port_field.field) if profile.port_field and listener else None
    return frozenset(leaf.source for _, leaf in leaves(entries)) if isinstance(entries, KeyedList) else NOBODY
