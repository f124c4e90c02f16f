"""Settings of objects without any policy: those of rules of routes, and fields of targets that stand for settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import WHOLE, FieldPath, items_at, mapping_at, text_at, value_at
from kubectl_policy.model.kind_roles import ROUTES, SERVICE
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.resolution.contributions import Contribution, without_nulls
from kubectl_policy.resolution.outcome import EffectivePolicy, ObjectValue, Resolution
from kubectl_policy.resolution.traced import Field, KeyedList, Leaf, Source, Traced, leaves, trace, without
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.profiles.controllers import RouteSettings
    from kubectl_policy.topology import Path, Topology

_BACKENDS: Final = "backendRefs"
# What says nothing where a field of an object stands for a setting.
_EMPTY: Final[tuple[Json, ...]] = (None, "", [], {})


class RuleSettings(Struct, frozen=True, dict=True, eq=False):
    """The settings that rules of routes make themselves; each rule is read once."""

    _topology: Topology
    _registry: Registry

    @cached_method
    def fields(self, rule: NodeRef) -> Mapping[str, Json]:
        """Return the fields of a rule, and beside them what its filters hold; nothing of any other node."""
        if rule.object.group_kind not in ROUTES:
            return {}
        settings, raw = self._settings(rule.object.group_kind), self._rule(rule)
        return {**raw, **_of_filters(raw, settings)} if settings else raw

    def at_end(self, path: Path, elsewhere: frozenset[str]) -> EffectivePolicy | None:
        """Return the settings of the rule at the end of a path, as the outcome of a kind that is the kind of its route.

        Fields that are `elsewhere`, among the settings of policies, are left out. None if nothing is left.
        """
        resolution = self._resolution(path[-1], elsewhere)
        return EffectivePolicy(path, resolution) if resolution else None

    def place(self, rule: NodeRef, field: Field) -> FieldPath:
        """Return the field of a route at which a rule makes a setting, by the setting's path of keys."""
        settings, sections = self._settings(rule.object.group_kind), self._topology.sections(rule.object)
        if settings and rule.object.group_kind not in ROUTES:
            return FieldPath(("spec", *field))
        if settings is None or rule.section not in sections:
            return WHOLE
        at = FieldPath(("spec", "rules", sections.index(rule.section)))
        reader = _Reader(settings=settings, index=self._topology.index, source=Source(rule.object, rule))
        return reader.place(self._rule(rule), at, field)

    def _settings(self, kind: GroupKind) -> RouteSettings | None:
        profile = self._registry.route_settings_of(kind)
        return profile.route_settings if profile else None

    def _rule(self, rule: NodeRef, *, written: bool = False) -> Mapping[str, Json]:
        """Return a rule of a route, or the spec of a backend, with its defaults or as it is `written`; or nothing."""
        index, sections = self._topology.index, self._topology.sections(rule.object)
        resource = index.get(rule.object)
        if resource and rule.object.group_kind not in ROUTES:
            return mapping_at(resource.raw if written else index.defaulted(rule.object), "spec")
        if resource is None or rule.section not in sections:
            return {}
        rules = items_at(resource.raw if written else index.defaulted(rule.object), "spec.rules")
        position = sections.index(rule.section)
        # A route that has no rules gets one from its defaults.
        section = rules[position] if position < len(rules) else None
        return section if isinstance(section, Mapping) else {}

    def is_made_at(self, node: NodeRef) -> bool:
        """Whether a node may make settings itself: a rule of a route, or a backend of a kind that does."""
        kind = node.object.group_kind
        return bool(node.section) if kind in ROUTES else not node.section and self._settings(kind) is not None

    @cached_method
    def _resolution(self, rule: NodeRef, elsewhere: frozenset[str]) -> Resolution | None:
        settings = self._settings(rule.object.group_kind)
        if settings is None:
            return None
        source = Source(rule.object, rule)
        reader = _Reader(settings=settings, index=self._topology.index, source=source)
        spec = reader.settings_of(self._rule(rule), self._rule(rule, written=True))
        for field in elsewhere:
            spec = without(spec, field.split("."))
        if not spec:
            return None
        return Resolution(
            kind=rule.object.group_kind,
            spec=spec,
            contributions=(Contribution(source=source, spec=spec, strategy=MergeStrategy.NONE),),
            members=frozenset({source}),
            rejected=frozenset(),
        )


def _of_filters(holder: Json, settings: RouteSettings) -> dict[str, Json]:
    """Return the contents of the filters of a rule or backendRef: of one that may occur several times, a list."""
    single: dict[str, Json] = {}
    several: dict[str, list[Json]] = {}
    for item in items_at(holder, "filters"):
        for name in settings.filters:
            held = value_at(item, name)
            if held is not None and name in settings.keys:
                several.setdefault(name, []).append(held)
            elif held is not None:
                single.setdefault(name, held)
    return {**single, **several}


def _short_reference(reference: Json) -> Json:
    """Return a reference without its kind if that is Service, the default."""
    kind = GroupKind(text_at(reference, "group"), text_at(reference, "kind", SERVICE.kind))
    if not isinstance(reference, Mapping) or kind != SERVICE:
        return reference
    return {name: held for name, held in reference.items() if name not in {"group", "kind"}}


class _Reader(Struct, frozen=True, kw_only=True):
    """Makes settings of what a rule says: those that count as such, and the place that they come from."""

    settings: RouteSettings
    index: Index
    source: Source

    def settings_of(self, rule: Mapping[str, Json], written: Mapping[str, Json]) -> Traced:
        """Return the settings of a rule; of what is not `written`, defaults are made."""
        spec = self._traced(*(self._fields_of(fields) for fields in (rule, written)))
        items, stated = items_at(rule, _BACKENDS), items_at(written, _BACKENDS)
        names = [self._reference_name(item) for item in items]
        # Evenly, unless somebody says otherwise: what is left out is 1, and API servers write that down.
        shared = len(items) > 1 and any(value_at(item, "weight") not in (None, 1) for item in items)
        backends = KeyedList()
        for position, (item, name) in enumerate(zip(items, names, strict=True)):
            wrote = stated[position] if position < len(stated) else None
            traced = self._traced(*(self._of_backend(fields, shared=shared) for fields in (item, wrote)))
            if traced:
                backends[name if name and names.count(name) == 1 else str(position)] = traced
        return {**spec, _BACKENDS: backends} if backends else spec

    def place(self, holder: Json, at: FieldPath, field: Field) -> FieldPath:
        """Return the field in a rule or backendRef at `at` in which a setting is written."""
        first, *rest = field
        if first == _BACKENDS and rest:
            items = items_at(holder, _BACKENDS)
            position = self._position(rest[0], [self._reference_name(item) for item in items])
            return self.place(items[position], at / _BACKENDS / position, tuple(rest[1:]))
        filters = [(number, value_at(item, first)) for number, item in enumerate(items_at(holder, "filters"))]
        held = [(number, value) for number, value in filters if value is not None and first in self.settings.filters]
        if not held:
            return self._field_path(holder, at, field)
        number, value = held[0]
        if first in self.settings.keys and rest:
            names = [self._element_key(value, self.settings.keys[first]) for _, value in held]
            number, value = held[self._position(rest.pop(0), names)]
        return self._field_path({first: value}, at / "filters" / number, (first, *rest))

    def _field_path(self, value: Json, at: FieldPath, field: Field) -> FieldPath:
        """Return the field of a setting whose keys are those of maps, or those that identify elements of lists."""
        path: list[str] = []
        for key in field:
            if isinstance(value, list):
                name = self.settings.keys.get(".".join(path), "")
                position = self._position(key, [self._element_key(item, name) for item in value])
                value, at = value[position], at / position
                fields: Mapping[str, Json] = value if isinstance(value, Mapping) else {}
                rest = [sibling for sibling in fields if sibling != name]
                # Of a name and a value, as headers have them, the value is the setting.
                at = at / rest[0] if len(rest) == 1 else at
            else:
                value, at = value.get(key) if isinstance(value, Mapping) else None, at / key
                path.append(key)
        return at

    @staticmethod
    def _position(name: str, names: list[str]) -> int:
        """Return the place of what is known by a name, or else by its place."""
        return names.index(name) if names.count(name) == 1 else int(name)

    def _element_key(self, item: Json, key: str) -> str:
        """Return the key of an element of a list: a text, or what a reference names."""
        return text_at(item, key) or self._reference_name(value_at(item, key))

    def _fields_of(self, rule: Mapping[str, Json]) -> dict[str, Json]:
        return {name: rule.get(name) for name in self.settings.fields} | _of_filters(rule, self.settings)

    def _of_backend(self, backend: Json, *, shared: bool) -> dict[str, Json]:
        """Return the settings of a backend: its share of the requests, if it has not all of them, and its filters."""
        weight = value_at(backend, "weight")
        share: dict[str, Json] = {"weight": weight} if weight is not None and (shared or weight == 0) else {}
        return share | _of_filters(backend, self.settings)

    def _traced(self, fields: Mapping[str, Json], written: Mapping[str, Json]) -> Traced:
        filled = {name: held for name, held in without_nulls(fields).items() if held not in ({}, [])}
        spec = trace(filled, self.source, written=written)
        for field, key in self.settings.keys.items():
            spec = self._keyed(spec, field.split("."), key)
        return spec

    def _keyed(self, spec: Traced, field: list[str], key: str) -> Traced:
        """Return a spec in which the list at a field is a keyed list, if each element has a unique key."""
        first, *rest = field
        child = spec.get(first)
        if isinstance(child, Leaf) and not rest and isinstance(child.value, list):
            return {**spec, first: self._elements(child.value, key) or child}
        if isinstance(child, Mapping) and rest:
            return {**spec, first: self._keyed(child, rest, key)}
        return spec

    def _elements(self, items: list[Json], key: str) -> KeyedList:
        """Return the elements of a list by their keys; the value of an element's only other field stands for it.

        Empty if some have no key of their own.
        """
        names = [self._element_key(item, key) for item in items]
        if "" in names or len(set(names)) < len(names):
            return KeyedList()
        keyed_list = KeyedList()
        for name, item in zip(names, items, strict=True):
            fields: Mapping[str, Json] = item if isinstance(item, Mapping) else {}
            rest = [held for field, held in fields.items() if field != key]
            named = isinstance(fields.get(key), str)
            if named and len(rest) == 1:
                keyed_list[name] = Leaf(rest[0], self.source)
            else:
                keyed_list[name] = trace({**fields, key: _short_reference(fields.get(key))}, self.source, [(key,)])
        return keyed_list

    def _reference_name(self, reference: Json) -> str:
        """Return the short name of a reference: `cart:8080`, `search/algolia`, `Backend/algolia`."""
        if not isinstance(reference, Mapping) or not text_at(reference, "name"):
            return ""
        home = self.source.object.namespace
        named = refer(self.index, reference, home, SERVICE)
        kind = "" if named.group_kind == SERVICE else f"{named.kind}/"
        namespace = "" if named.namespace in {home, ""} else f"{named.namespace}/"
        port = value_at(reference, "port")
        return f"{kind}{namespace}{named.name}" + ("" if port is None else f":{port}")


def object_fields(profile: PolicyKindProfile, target: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a target object that stand for settings there, each after the setting that it stands for."""
    yield from profile.object_fields.items()
    for conditional in profile.conditional_object_fields:
        required, absent = (
            value_at(target, name) if name else None for name in (conditional.given, conditional.absent)
        )
        if (not conditional.given or required not in _EMPTY) and absent in _EMPTY:
            yield conditional.field, conditional.object_field


def object_values(profile: PolicyKindProfile, target: Mapping[str, Json], end: NodeRef) -> tuple[ObjectValue, ...]:
    """Return the values of the target object's fields that stand for settings; of two for one setting the later counts.

    An empty value says nothing.
    """
    source = Source(end.object, end)
    fields = ((field, name, value_at(target, name)) for field, name in object_fields(profile, target))
    return tuple(
        ObjectValue(
            tuple(field.split(".")), name, trace(value, source) if isinstance(value, Mapping) else Leaf(value, source)
        )
        for field, name, value in fields
        if value not in _EMPTY
    )


def with_object_values(resolution: Resolution, values: tuple[ObjectValue, ...]) -> Resolution:
    """Put the values of the target object's fields into an outcome: over every default, under every override."""
    spec, merged = resolution.spec, resolution.merged
    for value in values:
        spec = _put_value(spec, value.field, value.value)
        merged = merged and _put_value(merged, value.field, value.value)
    return replace(resolution, spec=spec, merged=merged, object_values=values, without_object_values=resolution)


def _put_value(spec: Traced, field: Field, value: Leaf | Traced) -> Traced:
    """Return the spec with something at a field, unless an override is there, above or inside."""
    child = spec.get(field[0])
    if isinstance(child, Leaf) and child.source.overrides:
        return spec
    if len(field) == 1:
        overridden = child is not None and any(inner.source.overrides for _, inner in leaves({field[0]: child}))
        return spec if overridden else {**spec, field[0]: value}
    inner_spec: Traced = {} if child is None or isinstance(child, Leaf) else child
    return {**spec, field[0]: _put_value(inner_spec, field[1:], value)}
