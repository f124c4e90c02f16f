"""What is in a snapshot, what is missing from it, and what nobody can know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Gap, GroupKind, Json, ObjectRef, Resource, Snapshot
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.index import Index, Referrers
from kubectl_policy.model.kind_roles import GATEWAY_API, SERVICE
from kubectl_policy.model.selectors import selects
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS
from tests.build import crd, gateway, index, listed, namespace, ref, resource, service, snapshot

GATEWAY = GroupKind(GATEWAY_API, "Gateway")


def test_an_empty_snapshot_knows_of_nothing() -> None:
    empty = Index(Snapshot())
    assert empty.group_kinds == ()
    assert empty.of_kind(SERVICE) == ()
    assert empty.get(ref("Gateway", "g")) is None
    assert empty.defaulted(ref("Gateway", "g")) == {}
    assert empty.namespace_labels("default") is None


class TestPresence:
    """Unknown is not none."""

    @pytest.mark.parametrize("read", [service(), gateway("g", namespace="infra"), gateway("other")], ids=str)
    def test_in_an_open_world_whatever_was_not_read_is_unknown(self, read: Resource) -> None:
        """Other manifests may hold it; who reads one Gateway of a namespace need not have read them all."""
        assert index(read).presence(ref("Gateway", "g")) == "unknown"

    def test_of_what_a_cluster_listed_the_rest_is_missing(self) -> None:
        """That is all of one kind in one namespace, and nothing is known of others."""
        read = listed(snapshot(gateway("other"), service("s", namespace="far")))
        assert Index(read).presence(ref("Gateway", "g")) == "missing"
        assert Index(read).presence(ref("Gateway", "g", "far")) == "unknown"
        assert Index(read).presence(ref("Service", "g", group="")) == "unknown"
        assert Index(replace(read, gaps=(Gap("Gateway", "", "forbidden"),))).presence(ref("Gateway", "g")) == "unknown"

    @pytest.mark.parametrize(("name", "namespace"), [("${NAME}", "default"), ("g", "?apps"), ("g-${X}", "{{ x }}")])
    def test_a_name_that_is_not_known_is_never_missing(self, name: str, namespace: str) -> None:
        """Nor is what an object of such a name may be; an object of that very name is there."""
        candidate = gateway(name, namespace=namespace)
        assert index(complete=True).presence(candidate.ref) == "unknown"
        world = index(candidate, gateway("h", namespace="far"), complete=True)
        assert world.presence(candidate.ref) == "present"
        reference = ref("Gateway", "g-1" if name == "g-${X}" else "g")
        assert world.presence(reference) == "unknown"
        assert world.candidates.of(reference) == (candidate.ref,)
        assert world.candidates.of(candidate.ref) == ()
        assert world.presence(ref("Gateway", "h", "x")) == ("missing")
        assert world.presence(ref("Service", "g", group="")) == "missing"
        # Any object of the namespace.
        assert world.presence(ref("Gateway", "", "default")) == ("unknown" if namespace != "default" else "missing")

    def test_what_a_reference_with_an_unknown_name_may_be(self) -> None:
        world = index(gateway("a"), gateway("b", namespace="far"), gateway("${B}", namespace="far"))
        assert world.candidates.of(ref("Gateway", "${X}", "far")) == tuple(
            ref("Gateway", name, "far") for name in ("${B}", "b")
        )
        assert world.candidates.of(ref("Gateway", "a", "?apps")) == (ref("Gateway", "a"), ref("Gateway", "${B}", "far"))
        assert world.candidates.of(ref("Gateway", "a")) == ()

    def test_a_closed_world_knows_everything(self) -> None:
        assert index(complete=True).presence(ref("Gateway", "g")) == "missing"

    @pytest.mark.parametrize(
        "gap",
        [
            Gap("", "", "forbidden"),
            Gap("Gateway", "", "forbidden"),
            Gap("", "default", "forbidden"),
            Gap("Gateway", "default", "x"),
        ],
        ids=str,
    )
    def test_what_a_gap_covers_is_unknown_even_in_a_closed_world(self, gap: Gap) -> None:
        assert index(gateway("other"), complete=True, gaps=[gap]).presence(ref("Gateway", "g")) == "unknown"

    @pytest.mark.parametrize("gap", [Gap("Service", "", "forbidden"), Gap("Gateway", "infra", "forbidden")], ids=str)
    def test_a_gap_elsewhere_changes_nothing(self, gap: Gap) -> None:
        assert index(complete=True, gaps=[gap]).presence(ref("Gateway", "g")) == "missing"

    def test_what_was_read_is_present(self) -> None:
        assert index(gateway("g"), gaps=[Gap("", "", "forbidden")]).presence(ref("Gateway", "g")) == "present"

    def test_a_namespace_that_something_lives_in_is_present(self) -> None:
        """Manifests seldom hold their Namespace; an empty one is as any other object."""
        world = index(gateway("g", namespace="infra"), namespace("other"), complete=True)
        assert world.presence(ref("Namespace", "infra", "", "")) == "present"
        assert world.presence(ref("Namespace", "empty", "", "")) == "missing"
        world = index(gateway("g", namespace="?apps"), complete=True)
        assert world.presence(ref("Namespace", "empty", "", "")) == "unknown"


def test_of_two_objects_with_one_name_the_later_one_counts() -> None:
    """As for `kubectl apply`."""
    indexed = index(gateway("g", class_name="a"), gateway("g", class_name="b"))
    assert [resource.raw["spec"] for resource in indexed.of_kind(GATEWAY)] == [
        indexed.defaulted(ref("Gateway", "g"))["spec"]
    ]
    assert indexed.get(ref("Gateway", "g")) is indexed.of_kind(GATEWAY)[0]


def test_objects_of_a_kind_are_sorted() -> None:
    """By namespace and name, whatever the order of the documents is."""
    objects = [gateway("z"), gateway("a", namespace="infra"), gateway("a")]
    names = [resource.ref.qualified_name for resource in index(*objects).of_kind(GATEWAY)]
    assert names == ["default/a", "default/z", "infra/a"]
    assert index(*objects[::-1]).of_kind(GATEWAY) == index(*objects).of_kind(GATEWAY)


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ({}, "abc"),
        ({"matchLabels": {"x": "1"}}, "ab"),
        ({"matchLabels": {"x": "1", "y": "2"}}, "b"),
        ({"matchLabels": {"x": "1"}, "matchExpressions": [{"key": "y", "operator": "DoesNotExist"}]}, "a"),
        ({"matchExpressions": [{"key": "x", "operator": "Exists"}]}, "abc"),
        ({"matchLabels": {"x": "3"}}, ""),
        ({"matchLabels": {"x": ["1"]}}, ""),
        ({"matchLabels": {"x": None}}, ""),
        ({"matchLabels": 7}, "abc"),
        ({"matchExpressions": [{"key": "x", "operator": "In", "values": ["2", "1", "2"]}]}, "abc"),
        ({"matchExpressions": [{"key": "y", "operator": "In", "values": ["2", "3"]}]}, "b"),
        ({"matchExpressions": [{"key": "x", "operator": "In"}]}, ""),
        ({"matchExpressions": [{"key": "y", "operator": "Exists"}]}, "b"),
    ],
    ids=str,
)
def test_objects_by_their_labels(selector: dict[str, Json], names: str) -> None:
    labels = {"b": {"x": "1", "y": "2"}, "a": {"x": "1"}, "c": {"x": "2"}}
    services = [service(name, labels=said) for name, said in labels.items()]
    indexed = index(*services, service("far", namespace="other", labels={"x": "1"}), gateway("g"))
    assert "".join(one.ref.name for one in indexed.selected(SERVICE, "default", selector)) == names


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"x": "7"}},
        {"matchExpressions": [{"key": "x", "operator": "In", "values": ["7", "none"]}]},
        {"matchExpressions": [{"key": "y7", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "y", "operator": "NotIn"}, {"key": "x", "operator": "In", "values": ["7"]}]},
    ],
    ids=str,
)
def test_only_objects_with_a_label_that_is_demanded_are_looked_at(
    selector: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a thousand policies that each select one of a thousand routes take no million comparisons."""
    looked_at = list[object]()

    def counting(wanted: Mapping[str, Json], labels: Mapping[str, str]) -> bool | None:
        looked_at.append(labels)
        return selects(wanted, labels)

    monkeypatch.setattr("kubectl_policy.model.index.selects", counting)
    indexed = index(*(service(f"s{n}", labels={"x": str(n), f"y{n}": ""}) for n in range(50)))
    assert [one.ref.name for one in indexed.selected(SERVICE, "default", selector)] == ["s7"]
    assert len(looked_at) == 1


def test_the_kinds_that_were_read() -> None:
    assert index(gateway(), service()).group_kinds == (SERVICE, GATEWAY)


def test_kinds_nothing_is_known_of_have_a_namespace() -> None:
    """Most kinds do; a definition or the built-in table says which do not."""
    widget = GroupKind("example.com", "Widget")
    assert index().namespaced(widget)
    assert not index(crd("Widget", cluster_scoped=True)).namespaced(widget)
    assert not index().namespaced(GroupKind("", "Namespace"))


def test_a_namespace_has_the_label_that_an_api_server_adds() -> None:
    """`kubernetes.io/metadata.name`, whether or not the manifest has it."""
    bare = resource("Namespace", "infra", group="", labels={"team": "edge"})
    expected = {"team": "edge", "kubernetes.io/metadata.name": "infra"}
    assert index(bare).namespace_labels("infra") == expected
    assert index(namespace("infra", {"team": "edge"})).namespace_labels("infra") == expected


def test_what_was_read_stays_at_hand() -> None:
    read = snapshot(gateway())
    assert Index(read).snapshot is read


class TestDefinitions:
    def test_one_that_names_no_kind_defines_nothing(self) -> None:
        nameless = resource("CustomResourceDefinition", "x", {"names": 1}, group="apiextensions.k8s.io", namespace="")
        assert index(nameless, service()).definitions == {}

    def test_one_of_a_kind_counts(self) -> None:
        """Of those of one age the first by name, as for the defaults."""
        definition = crd("Widget")
        spec = mapping_at(definition.raw, "spec")
        duplicate = resource("CustomResourceDefinition", "zz", spec, group="apiextensions.k8s.io", namespace="")
        assert index(duplicate, definition).definitions == {GroupKind("example.com", "Widget"): definition}


def test_words_of_a_value() -> None:
    """Keys and texts at any depth; numbers and truth values are none."""
    assert list(strings_in({"a": ["b", 1, None, {"c": True}], "d": "e"})) == ["a", "b", "c", "d", "e"]


def test_what_a_default_may_name_or_have() -> None:
    """Every object of the kind may, without saying so; of another kind, those alone that do."""
    schema: Json = {"properties": {"target": {"default": {"name": "main", "namespace": "infra", "selector": {}}}}}
    widgets = [resource("Widget", name, {"of": "other"}, group="example.com") for name in "ab"]
    indexed = index(
        crd("Widget", schema=schema), *widgets, *(resource("Gadget", "c", {"of": "main"}, group="example.com"),)
    )
    widget, gadget = GroupKind("example.com", "Widget"), GroupKind("example.com", "Gadget")
    for name, where in (("main", "infra"), ("main", "default"), ("main", ""), ("elsewhere", "infra")):
        named = ref("Gateway", name, where)
        assert [holder.name for holder in indexed.naming(widget, named)] == ["a", "b"]
    assert [*indexed.naming(widget, ref("Gateway", "mai", "default"))] == []
    assert [holder.name for holder in indexed.naming(gadget, ref("Gateway", "main", "default"))] == ["c"]
    assert [holder.name for holder in indexed.naming(widget, "selector")] == ["a", "b"]
    assert [*indexed.naming(widget, "labels")] == []
    assert [*indexed.naming(gadget, "selector")] == []
    assert [holder.ref.name for holder in indexed.read_with_strings(widget, "selector", "other")] == ["a", "b"]
    assert [*indexed.read_with_strings(widget, "selector", "another")] == []


def test_objects_whose_names_are_to_be_filled_in() -> None:
    """A namespace may be to be filled in as well as a name; of a cluster, nothing but what is applied to it."""
    unknown = [resource("Widget", "FILL_ME_IN"), resource("Widget", "a", namespace="${NAMESPACE}")]
    read = snapshot(*unknown, resource("Widget", "b"))
    assert {*Index(read).candidates.with_unknown_names} == {unnamed.ref for unnamed in unknown}
    of_cluster = replace(read, source="the cluster")
    assert Index(of_cluster).candidates.with_unknown_names == ()
    assert Index(replace(of_cluster, applied=frozenset({unknown[0].ref}))).candidates.with_unknown_names == (
        unknown[0].ref,
    )


def test_objects_in_which_something_may_be_to_be_filled_in() -> None:
    open_one, plain = resource("Widget", "a", {"text": "<fill me in>"}), resource("Widget", "b")
    read, kind = snapshot(open_one, plain), plain.ref.group_kind
    assert Index(read).perhaps_unfilled(kind, names=False) == [open_one]
    of_cluster = replace(read, source="the cluster")
    assert Index(of_cluster).perhaps_unfilled(kind, names=True) == []
    assert Index(replace(of_cluster, applied=frozenset({open_one.ref}))).perhaps_unfilled(kind, names=False) == [
        open_one
    ]


class TestReferrers:
    """The first few questions are answered one by one, all others at once; the answers are the same."""

    OBJECTS = tuple(resource("Widget", f"w{number}", {"of": f"w{number + 1}"}) for number in range(100))

    def referrers(self) -> Referrers[str]:
        widgets = index(*self.OBJECTS)
        kind = self.OBJECTS[0].ref.group_kind

        def read(holder: ObjectRef) -> Iterator[tuple[ObjectRef, str]]:
            yield ObjectRef(kind, holder.namespace, text_at(widgets.defaulted(holder), "spec.of")), holder.name

        return Referrers(widgets, [kind], read)

    def test_answers(self) -> None:
        """Each one, and once more."""
        referrers = self.referrers()
        for _ in range(2):
            for number, widget in enumerate(self.OBJECTS):
                assert referrers.to(widget.ref) == ((f"w{number - 1}",) if number else ())

    def test_whether_there_is_any(self) -> None:
        referrers = self.referrers()
        for _ in range(2):
            for number, widget in enumerate(self.OBJECTS):
                assert referrers.is_any_to(widget.ref, bool) is bool(number)
                assert not referrers.is_any_to(widget.ref, lambda _: False)


def test_many_questions_are_answered_at_once() -> None:
    empty = Index(Snapshot())
    empty.expect_questions(MAX_SINGLE_QUESTIONS)
    assert empty.max_single_questions == MAX_SINGLE_QUESTIONS
    empty.expect_questions(MAX_SINGLE_QUESTIONS + 1)
    assert empty.max_single_questions == 0
