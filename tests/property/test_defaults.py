"""Laws of defaults: of filling one spec from another, and of what a schema fills in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze, leaves
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.defaults import Defaults
from kubectl_policy.profiles.merging import JointField
from kubectl_policy.resolution import Traced
from kubectl_policy.resolution.contributions import split_shared
from kubectl_policy.resolution.traced import only_field, trace, with_defaults
from tests.build import crd, gateway, node, resource, route, service, snapshot, target
from tests.property.choices import values_of
from tests.property.stacks import TYPED, WILD, joints
from tests.resolution.build import source

WHOLE = st.frozensets(st.sampled_from((("m",), ("m", "l"), ("l",), ("w", "a"), ("p",), ("r",))))


def said(name: str, spec: dict[str, Json], fields: tuple[JointField, ...]) -> Traced:
    """A spec as a policy of that name declares it."""
    whole = [tuple(joint.field.split(".")) for joint in fields]
    return split_shared(trace(spec, source(name), whole), fields)


@given(specs=st.tuples(WILD, WILD), fields=joints, whole=WHOLE)
def test_nothing_of_the_first_one_is_lost(
    specs: tuple[dict[str, Json], dict[str, Json]], fields: tuple[JointField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """Every leaf stays where it is, but for an empty map or list, which may be filled."""
    first, later = (said(name, spec, fields) for name, spec in zip("pq", specs, strict=True))
    found = dict(leaves(with_defaults(first, later, whole)))
    for field, leaf in leaves(first):
        assert found.get(field) == leaf or (
            leaf.value in ({}, []) and only_field(with_defaults(first, later, whole), field)
        )


@given(specs=st.tuples(WILD, WILD), fields=joints, whole=WHOLE)
def test_nothing_is_invented(
    specs: tuple[dict[str, Json], dict[str, Json]], fields: tuple[JointField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """Every leaf of the result is one of theirs, at its place; and to fill it again changes nothing."""
    first, later = (said(name, spec, fields) for name, spec in zip("pq", specs, strict=True))
    merged = with_defaults(first, later, whole)
    theirs = [*leaves(first), *leaves(later)]
    assert all(leaf in theirs for leaf in leaves(merged))
    assert (
        with_defaults(merged, later, whole)
        == with_defaults(merged, first, whole)
        == with_defaults(first, merged, whole)
        == merged
    )


@given(spec=WILD, fields=joints, whole=WHOLE)
def test_a_spec_fills_itself_with_nothing(
    spec: dict[str, Json], fields: tuple[JointField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """And nothing fills it, nor does it change by being what fills nothing."""
    found = said("p", spec, fields)
    assert (
        with_defaults(found, found, whole)
        == with_defaults(found, {}, whole)
        == with_defaults({}, found, whole)
        == found
    )


@given(specs=st.tuples(TYPED, TYPED, TYPED), fields=joints, whole=WHOLE)
def test_of_three_it_does_not_matter_which_two_meet_first(
    specs: tuple[dict[str, Json], ...], fields: tuple[JointField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """Where one schema holds for all, so that what stands at a field is of one sort."""
    a, b, c = (said(name, spec, fields) for name, spec in zip("pqr", specs, strict=True))
    assert with_defaults(with_defaults(a, b, whole), c, whole) == with_defaults(a, with_defaults(b, c, whole), whole)


KIND: Final = GroupKind("example.com", "ColorPolicy")
TARGETS: Final[tuple[Json, ...]] = (
    {"name": "g"},
    {"name": "g", "sectionName": "http"},
    target("g"),
    target("r", "HTTPRoute"),
    target("r", "HTTPRoute", "rule[0]"),
)
STRATEGIES: Final = ("Patch defaults", "Patch overrides", "Atomic defaults", "Atomic overrides")
SCALARS: Final[st.SearchStrategy[Json]] = st.sampled_from((0, 1, "x", None))
MAPS: Final[st.SearchStrategy[Json]] = st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2)


def _schema(defaults: Mapping[str, Json], inner: Mapping[str, Json], *, whole: bool, merge: Json) -> Json:
    """The schema of a policy with defaults at the top, in the map `m`, perhaps for all of it, and in references."""
    properties = {key: {"default": value} for key, value in defaults.items()}
    deep: dict[str, Json] = {"properties": {key: {"default": value} for key, value in inner.items()}}
    reference: Json = {
        "properties": {"group": {"default": "gateway.networking.k8s.io"}, "kind": {"default": "Gateway"}}
    }
    fields: dict[str, Json] = {
        **properties,
        "m": {**deep, "default": {}} if whole else deep,
        "merge": {"default": merge},
    }
    return {"properties": {"spec": {"properties": {**fields, "targetRefs": {"items": reference}}}}}


SCHEMAS: Final = st.builds(
    _schema,
    st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2),
    st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2),
    whole=st.booleans(),
    merge=st.sampled_from((None, *STRATEGIES)),
)
SPECS: Final = st.fixed_dictionaries(
    {"targetRefs": st.lists(st.sampled_from(TARGETS), min_size=1, max_size=2)},
    optional={"a": SCALARS, "b": SCALARS, "m": MAPS, "merge": st.sampled_from(STRATEGIES)},
)
PROFILES: Final = values_of(
    PolicyKindProfile,
    st.just(KIND),
    st.just("inherited"),
    st.just("profile"),
    strategy_field=st.just("spec.merge"),
    stanzas=st.just("none"),
    same_level=st.sampled_from((None, "first-wins", "one-applies", "disjoint")),
    chooser=st.sampled_from(("established", "challenger")),
    nulls=st.sampled_from(("remove", "ignore")),
    order_field=st.sampled_from(("", "spec.a")),
)


def _outcome(profile: PolicyKindProfile, policies: Sequence[Resource], *definitions: Resource) -> tuple[object, ...]:
    """All that is computed of the policies: what is in force, the fates of fields, and how far each is enforced."""
    world = (gateway(), route(), service(), *policies, *definitions)
    analysis = analyze(snapshot(*world, complete=True), profiles=[profile])
    effective = analysis.effective(node("Service", "s", "8080", group=""))
    return (
        [
            [(field, leaf.value, leaf.source, leaf.removed) for field, leaf in leaves(each.resolution.spec)]
            for each in effective
        ],
        [
            [(fate.field, fate.value, fate.state, fate.superseded_by) for fate in each.resolution.fates]
            for each in effective
        ],
        [(analysis.attachments[policy.ref], analysis.enforcement(policy.ref).state) for policy in policies],
    )


@given(profile=PROFILES, schema=SCHEMAS, specs=st.lists(SPECS, min_size=1, max_size=3))
def test_what_is_filled_in_counts_as_if_it_were_written(
    profile: PolicyKindProfile, schema: Json, specs: list[dict[str, Json]]
) -> None:
    """Whatever decides who wins: order, strategy, what both set, and what references leave out."""
    definition = crd("ColorPolicy", schema=schema)
    policies = [
        resource("ColorPolicy", f"p{place}", spec, group="example.com", age=place) for place, spec in enumerate(specs)
    ]
    filler = Defaults([definition])
    written = [replace(policy, raw=filler.apply(policy)) for policy in policies]
    assert _outcome(profile, policies, definition) == _outcome(profile, written)
