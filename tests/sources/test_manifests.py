"""Manifests to a snapshot."""

import io
import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Gap, GroupKind, ObjectRef, Origin, Snapshot
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.index import Index
from kubectl_policy.sources import InputOptions, load_manifests, manifests, reading
from kubectl_policy.sources.files.input_files import InputFile
from kubectl_policy.sources.reading import Reading
from kubectl_policy.text import documents

CM = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
# Without spaces behind its colons, which would make YAML of it.
OBJECT = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}'


def _load(text: str, namespace: str = "default") -> Snapshot:
    return load_manifests(["-"], stdin=io.StringIO(text), options=InputOptions(namespace=namespace))


def _names(snapshot: Snapshot) -> list[str]:
    return [str(resource.ref) for resource in snapshot.resources]


def _rules(snapshot: Snapshot) -> list[tuple[str, str, int]]:
    return [
        (diagnostic.rule, diagnostic.severity, diagnostic.origin.line if diagnostic.origin else 0)
        for diagnostic in snapshot.diagnostics
    ]


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.example.io, creationTimestamp: "%s"}
spec: {group: example.io, scope: %s, names: {kind: Widget, plural: %s}}
---
"""
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"
WIDGET = "apiVersion: example.io/v1\nkind: Widget\nmetadata: {name: w}\n---\n"


@pytest.mark.parametrize(
    ("definitions", "counts"),
    [
        ((CRD % ("widgets", OLD, "Cluster", "widgets"), CRD % ("gadgets", NEW, "Namespaced", "gadgets")), "widgets"),
        ((CRD % ("widgets", NEW, "Cluster", "widgets"), CRD % ("gadgets", OLD, "Namespaced", "gadgets")), "gadgets"),
        ((CRD % ("widgets", OLD, "Cluster", "widgets"), CRD % ("gadgets", OLD, "Namespaced", "gadgets")), "gadgets"),
    ],
)
def test_two_definitions_of_one_kind(definitions: tuple[str, str], counts: str) -> None:
    """The older one counts, as an API server takes no name that is taken; whatever is read first."""
    texts = list(itertools.permutations([*definitions, WIDGET]))
    snapshots = [_load("".join(text)) for text in texts]
    for snapshot in snapshots:
        (found,) = snapshot.diagnostics
        assert (found.rule, found.severity, found.field) == ("kind-defined-twice", "warning", "spec.names.kind")
        assert found.subject
        assert found.subject.name != f"{counts}.example.io"
        assert [ref.name for ref in found.related] == [f"{counts}.example.io"]
        index = Index(snapshot)
        widget = GroupKind("example.io", "Widget")
        assert index.kinds[widget].plural == counts
        assert index.definitions[widget].ref.name == f"{counts}.example.io"
        assert [found.ref.namespace for found in index.of_kind(widget)] == ["" if counts == "widgets" else "default"]


def test_the_order_of_files_does_not_matter_to_what_could_not_be_read(tmp_path: Path) -> None:
    """Gaps and diagnostics are sorted by where they are."""
    paths = [tmp_path / f"{name}.yaml" for name in "abc"]
    for path in paths:
        path.write_text(CM % path.stem + "---\na: [\n---\nkind: Service\nmetadata: {generateName: x}\n---\na: 'x\n")
    snapshots = [load_manifests(order) for order in itertools.permutations(paths)]
    assert len({snapshot.gaps for snapshot in snapshots}) == len({snapshot.diagnostics for snapshot in snapshots}) == 1
    assert [(gap.origin.source, gap.origin.line) for gap in snapshots[0].gaps if gap.origin] == [
        (str(path), line) for path in paths for line in (6, 11)
    ]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_key_that_is_given_twice(*, listed: bool, as_json: bool) -> None:
    """Is said with both lines, as kubectl refuses it; the last one counts."""
    text = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",\n"labels": {"x": "1",\n\n"x": "2"}}}'
    if listed:
        text = f'{{"apiVersion": "v1", "kind": "List", "items": [{text}]}}'
    snapshot = _load(text if as_json else f"# YAML\n{text}")
    (diagnostic,) = snapshot.diagnostics
    line = 4 if as_json else 5
    assert (diagnostic.rule, diagnostic.severity, diagnostic.origin) == (
        "repeated-key",
        "error",
        Origin("<stdin>", line),
    )
    field = "items[0].metadata.labels.x" if listed and not as_json else "metadata.labels.x"
    assert diagnostic.message == (
        f"{field} is given twice: it is on line {line - 2} as well, and kubectl refuses that: remove one of the two; "
        "here, the last one counts"
    )
    assert labels_of(snapshot.resources[0].raw) == {"x": "2"}
    assert snapshot.gaps == ()


@pytest.mark.parametrize("text", ["", "a: 1", "- 1", "text", "---\n---", "{}", "[]"])
def test_nothing_at_all(tmp_path: Path, text: str) -> None:
    """An empty answer would look like a right one; the number of files shows that a folder is the wrong one."""
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(text)
    for paths, number in (([tmp_path / "a.yaml"], "1 file"), ([tmp_path], "3 files")):
        with pytest.raises(SourceError, match=f"no Kubernetes object in {number}") as caught:
            load_manifests(paths)
        assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "rule", "severity"),
    [
        ("a: [", "syntax-error", "error"),
        ("a: {{ .b }}", "unrendered-template", "warning"),
        ("[" * 1_000, "too-deep", "error"),
        ("&a [*a]", "alias-bomb", "error"),
        ("a: !!int b", "syntax-error", "error"),
    ],
)
def test_what_cannot_be_read_is_a_gap(text: str, rule: str, severity: str) -> None:
    """Unknown is not none; and the rest is answered."""
    snapshot = _load(CM % "a" + f"---\n{text}\n---\n" + CM % "b")
    assert _names(snapshot) == ["ConfigMap default/a", "ConfigMap default/b"]
    (diagnostic,) = snapshot.diagnostics
    assert (diagnostic.rule, diagnostic.severity) == (rule, severity)
    assert diagnostic.origin
    assert diagnostic.origin.line >= 5
    assert snapshot.gaps == (Gap("", "", diagnostic.message, diagnostic.origin),)


def test_files_that_cannot_be_read_are_gaps(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CM % "a")
    (tmp_path / "b.yaml").write_bytes(b"\0\1")
    (tmp_path / "c.yaml").symlink_to("nowhere")
    snapshot = load_manifests([tmp_path])
    assert _names(snapshot) == ["ConfigMap default/a"]
    assert _rules(snapshot) == [("not-text", "error", 1), ("unreadable", "error", 0)]
    assert [gap.origin for gap in snapshot.gaps] == [
        Origin(str(tmp_path / "b.yaml"), 1),
        Origin(str(tmp_path / "c.yaml")),
    ]


def test_a_file_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between finding and reading it."""
    (tmp_path / "a.yaml").write_text(CM % "a")
    files = [InputFile(str(tmp_path / name)) for name in ("a.yaml", "b.yaml")]

    def find_files(*_: object) -> list[InputFile]:
        return files

    monkeypatch.setattr(manifests, "find_files", find_files)
    snapshot = load_manifests([tmp_path])
    assert _names(snapshot) == ["ConfigMap default/a"]
    assert _rules(snapshot) == [("unreadable", "error", 0)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("apiVersion: v1\nmetadata: {name: x}", "no-kind"),
        ("kind: Service\nmetadata: {name: x}", "no-kind"),
        ("apiVersion: 1\nkind: Service", "no-kind"),
        ("apiVersion: v1\nkind: [Service]", "no-kind"),
        ("apiVersion: v1\nkind: ''", "no-kind"),
        ("apiVersion: v1\nkind: '::add-mask::x'\nmetadata: {name: x}", "no-kind"),
        ('apiVersion: v1\nkind: "A\\nB"\nmetadata: {name: x}', "no-kind"),
        ("apiVersion: v1\nkind: A-\nmetadata: {name: x}", "no-kind"),
        (f"apiVersion: v1\nkind: {'A' * 64}\nmetadata: {{name: x}}", "no-kind"),
        ("apiVersion: '::set-env/v1'\nkind: A\nmetadata: {name: x}", "no-kind"),
        ("apiVersion: A.example.com/v1\nkind: A\nmetadata: {name: x}", "no-kind"),
        ("apiVersion: v1\nkind: Service", "no-name"),
        ("apiVersion: v1\nkind: Service\nmetadata: x", "no-name"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: 5}", "no-name"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: ''}", "no-name"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: 5}", "no-name"),
    ],
)
def test_what_no_reference_can_be_made_to(text: str, rule: str) -> None:
    """A warning, but no gap: an API server would not have it either."""
    snapshot = _load(f"{CM % 'a'}---\n{text}\n")
    assert _rules(snapshot) == [(rule, "warning", 5)]
    assert (snapshot.gaps, len(snapshot.resources)) == ((), 1)


@pytest.mark.parametrize("text", ["kind: pipeline\ntype: docker\nsteps: []", "apiVersion: v1\nreplicas: 1", "foo: 1"])
def test_what_is_of_other_programs_is_counted_alone(text: str) -> None:
    """Beside an object as well."""
    snapshot = _load(f"{CM % 'a'}---\n{text}\n")
    assert (_rules(snapshot), snapshot.ignored, len(snapshot.resources)) == ([], 1, 1)


@pytest.mark.parametrize("version", ["v1", "apps/v1", "example.com/v1alpha1", "x-1.example/v1"])
@pytest.mark.parametrize("kind", ["A", "XBackend", "a2", "A-1", "A" * 63])
def test_what_an_api_could_call_its_kinds(version: str, kind: str) -> None:
    """Letters, digits and hyphens, as `spec.names.kind` of a definition takes them."""
    snapshot = _load(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n")
    assert (_rules(snapshot), len(snapshot.resources)) == ([], 1)


DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.{group}
  labels: {{gateway.networking.k8s.io/policy: {label}}}
spec:
  group: "{group}"
  scope: {scope}
  names: {{kind: "{kind}", plural: {plural}}}
"""


@pytest.mark.parametrize(
    ("kind", "group", "message"),
    [
        ("Namespace", "", "Namespace is a kind of Kubernetes itself, so what this definition says about it is ignored"),
        ("Job", "batch", "Job.batch is a kind of Kubernetes itself, so what this definition says about it is ignored"),
        ("Ingress", "networking.k8s.io", "Ingress.networking.k8s.io is a kind of Kubernetes itself, so what this def"),
        ("::x", "example.com", "no API can have a kind like '::x', so this definition is ignored: it takes letters"),
        ("X", "Example.com", "no API can have a group like 'Example.com', so this definition is ignored: it takes"),
    ],
)
def test_a_definition_that_an_api_server_refuses(kind: str, group: str, message: str) -> None:
    """It defines nothing: objects of the kind are what they are without it."""
    scope = "Namespaced" if kind == "Namespace" else "Cluster"
    text = DEFINITION.format(kind=kind, group=group, plural="xs", label="direct", scope=scope)
    snapshot = _load(f"{text}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: a}}\n")
    (diagnostic,) = snapshot.diagnostics
    assert (diagnostic.rule, diagnostic.severity) == ("definition-refused", "warning")
    assert diagnostic.message.startswith(f"CustomResourceDefinition xs.{group}: {message}")
    assert _names(snapshot) == [f"CustomResourceDefinition xs.{group}", "Namespace a"]


@pytest.mark.parametrize(
    ("kind", "group", "plural"),
    [
        ("HTTPRoute", "gateway.networking.k8s.io", "httproutes"),
        ("XListenerSet", "gateway.networking.x-k8s.io", "xlistenersets"),
    ],
)
def test_a_label_that_makes_a_route_a_policy_kind(kind: str, group: str, plural: str) -> None:
    """Gateway API's own kinds are what policies target; the definition counts, and the label does not."""
    text = DEFINITION.format(kind=kind, group=group, plural=plural, label="inherited", scope="Namespaced")
    (diagnostic,) = _load(text).diagnostics
    assert (diagnostic.rule, diagnostic.severity) == ("policy-label", "warning")
    assert diagnostic.message == (
        f"CustomResourceDefinition {plural}.{group}: {kind}.{group} is a kind that policies target, so the label"
        " gateway.networking.k8s.io/policy, which makes it a policy kind, is ignored"
    )
    assert _load(text.replace("/policy:", "/other:")).diagnostics == ()


def test_a_quoted_template_in_a_name() -> None:
    """It parses, and nobody knows how the object is called."""
    snapshot = _load(f"{CM % 'a'}---\n{CM % repr('{{ .Release.Name }}')}")
    assert _names(snapshot) == ["ConfigMap default/a", "ConfigMap default/{{ .Release.Name }}"]
    assert _rules(snapshot) == [("unrendered-template", "warning", 5)]
    assert snapshot.gaps == ()


@pytest.mark.parametrize(
    ("api_version", "kind", "known"),
    [
        ("v1", "{{ .kind }}", ""),
        ("example.com/v1", "${KIND}", ""),
        ("example.com/v1", "ENC[AES256_GCM,data:x]", ""),
        ("{{ .api }}", "HTTPRoute", "HTTPRoute"),
        ("${GROUP}/v1", "HTTPRoute", "HTTPRoute"),
    ],
)
def test_a_kind_that_is_to_be_filled_in(api_version: str, kind: str, known: str) -> None:
    """There will be such an object, of a kind that nobody knows yet."""
    text = f"apiVersion: {api_version!r}\nkind: {kind!r}\nmetadata: {{name: x, namespace: apps}}\n"
    snapshot = _load(f"{CM % 'a'}---\n{text}spec: {{targetRef: {{kind: Gateway, name: g-1}}}}\n")
    assert _rules(snapshot) == [("unrendered-template", "warning", 5)]
    (gap,) = snapshot.gaps
    assert (gap.kind, gap.namespace, gap.name) == (known, "apps", "")
    placeholder = "{{" in text or "${" in text or "ENC[" in text
    assert gap.mentions is None if placeholder else gap.mentions


STORED = ", uid: u-1, resourceVersion: '7'"
ITEM = "- apiVersion: v1\n  kind: %s\n  metadata: {name: %s}\n"


def test_what_a_cluster_listed() -> None:
    """Items of a List that an API server has stored: of their kinds, in their namespaces, there are no others."""
    items = [
        ITEM % ("ConfigMap", "a, namespace: apps" + STORED),
        ITEM % ("Node", "one" + STORED),
        ITEM % ("Secret", "s, namespace: apps, uid: u-2"),
        ITEM % ("Service", "t, namespace: apps, resourceVersion: '7'"),
        ITEM % ("Pod", "p, namespace: apps"),
    ]
    alone = "---\n" + CM % ("b, namespace: other" + STORED)
    snapshot = _load("apiVersion: v1\nkind: List\nitems:\n" + "".join(items) + alone)
    assert len(snapshot.resources) == 6
    assert snapshot.listed == {(GroupKind("", "ConfigMap"), "apps"), (GroupKind("", "Node"), "")}


def test_a_file_without_any_object_is_no_manifest(tmp_path: Path) -> None:
    """Whatever else is in it: it is counted."""
    (tmp_path / "a.yaml").write_text(CM % "a")
    texts = (
        "a: [",
        "a: {{ .b }}",
        "a: !!int b",
        "&a [*a]",
        "[" * 1_000,
        "a: 1\n---\nb: [\n---\nc: 2",
        "apiVersion: v2\nname: x\ndescription: [",
        "kind: Service\nname: {{ .b }}",
        "kind: Service",
        "apiVersion: v1\nmetadata: {name: x}",
        "text: 'kind and apiVersion'\na: [",
        "a: {kind: b, apiVersion: c}",
        "on: push\njobs: {a: {steps: [{run: 'echo \"\\u0041\"'}]}}",
        "",
    )
    for number, text in enumerate(texts):
        (tmp_path / f"b{number}.yaml").write_text(text)
    snapshot = load_manifests([tmp_path])
    assert _names(snapshot) == ["ConfigMap default/a"]
    assert (snapshot.diagnostics, snapshot.gaps, snapshot.ignored) == ((), (), len(texts))


@pytest.mark.parametrize(
    "text",
    [
        "kind: [\napiVersion: v1",
        "  kind: a\n  apiVersion: [b",
        '{"apiVersion": "v1", "kind": "Service", ',
        '{"\\u0061piVersion": "v1", "\\u006bind": [',
        "- apiVersion: v1\n  kind: {{ .b }}",
        "a: [\n---\napiVersion: v1\nkind: Service\nmetadata: {name: x}",
    ],
)
def test_a_file_with_what_may_be_an_object_is_a_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(CM % "a")
    (tmp_path / "b.yaml").write_text(text)
    snapshot = load_manifests([tmp_path])
    assert len(snapshot.diagnostics) == len(snapshot.gaps) == 1
    assert snapshot.ignored == 0


def test_text_in_another_encoding(tmp_path: Path) -> None:
    """Its letters tell whether it is a manifest; of what is packed or encrypted, nothing does."""
    route = ROUTE.replace("name: a", "name: r, namespace: apps")
    (tmp_path / "a.yaml").write_text(CM % "a")
    (tmp_path / "values.yaml").write_bytes("grüße: 1\n".encode("latin-1"))
    (tmp_path / "route.yaml").write_bytes(f"{route}# grüße\n".encode("latin-1"))
    (tmp_path / "secret.yaml").write_bytes(b"\x85\x01\x0c\x03\xf2")
    snapshot = load_manifests([tmp_path])
    assert [diagnostic.rule for diagnostic in snapshot.diagnostics] == ["not-text", "not-text"]
    assert [(gap.kind, gap.namespace, gap.name) for gap in snapshot.gaps] == [("HTTPRoute", "apps", "r"), ("", "", "")]
    assert snapshot.ignored == 1
    with pytest.raises(SourceError, match="not UTF-8 text"):
        load_manifests([tmp_path / "values.yaml"])


def test_an_object_in_other_letters(tmp_path: Path) -> None:
    """JSON and quoted YAML may spell a word as they like."""
    (tmp_path / "a.json").write_text('{"\\u0061piVersion": "v1", "\\u006bind": "Service", "metadata": {"name": "x"}}')
    (tmp_path / "b.yaml").write_text('"apiV\\x65rsion": v1\n"k\\x69nd": Service\nmetadata: {name: z}')
    assert _names(load_manifests([tmp_path])) == ["Service default/x", "Service default/z"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [\n", "a.yaml:3: not valid YAML"),
        ("a: {{ .b }}", "a.yaml:1: a template"),
        ("kind: Service", "a.yaml:1: an object needs both apiVersion and kind"),
        ("a: 1", "no Kubernetes object in 1 file"),
    ],
)
def test_a_file_that_is_named_says_why_nothing_is_in_it(tmp_path: Path, text: str, words: str) -> None:
    """Whoever names it takes it for a manifest; among manifests, it is none."""
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(CM % "b")
    with pytest.raises(SourceError) as caught:
        load_manifests([tmp_path / "a.yaml"])
    assert words in caught.value.message
    for paths in ([tmp_path / "a.yaml", tmp_path / "b.yaml"], [tmp_path]):
        assert load_manifests(paths).diagnostics == ()


@pytest.mark.parametrize(
    ("metadata", "spec", "name"),
    [
        ("name: r, namespace: apps", "\n  parentRefs: [{name: edge}\n", "r"),
        ("generateName: r-, namespace: apps", " {parentRefs: [{name: edge}]}\n", ""),
    ],
)
def test_what_is_known_of_an_object_that_is_none(metadata: str, spec: str, name: str) -> None:
    """What kind it is of, where, and what it mentions, so that answers about others do without it."""
    (gap,) = _load(f"{CM % 'a'}---\n{ROUTE.replace('name: a', metadata)}spec:{spec}").gaps
    assert (gap.kind, gap.namespace, gap.name) == ("HTTPRoute", "apps", name)
    assert gap.mentions
    assert {"edge", "apps"} <= gap.mentions


@pytest.mark.parametrize(
    "text",
    [
        "replicas: 3",
        "resources: [a.yaml]",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization",
        "apiVersion: v1\nkind: Config\nclusters: []",
        "apiVersion: v2\nname: chart\nversion: 1.0.0",
        "",
        "apiVersion: v1\nkind: List\nitems: [null]",
        '{"apiVersion": "policy.kubectl/v1alpha1", "kind": "LintBaseline", "findings": []}',
        "apiVersion: policy.kubectl/v1alpha1\nkind: PolicyList\nitems: [{object: {kind: A, name: b}, kind: C}]",
    ],
)
def test_what_is_no_object_is_counted(text: str) -> None:
    """Values of charts, kustomizations, client configuration, and what this program itself has written."""
    snapshot = _load(f"{CM % 'a'}---\n{text}\n")
    assert (snapshot.ignored, snapshot.diagnostics, snapshot.gaps) == (1, (), ())


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("- 1", "no-kind", "a list, where kubectl expects an object: remove it"),
        ("text", "no-kind", "text, where kubectl expects an object: remove it"),
        ("yes", "no-kind", "true or false, where kubectl expects an object: remove it"),
        ("1.5", "no-kind", "a number, where kubectl expects an object: remove it"),
        ("apiVersion: v1\nkind: List\nitems: [1]", "no-kind", "a number, where kubectl expects an object: remove it"),
        (f"[{OBJECT}]", "no-kind", "a list of objects, which kubectl refuses: write each as a document of its own"),
        (f"// a\n{OBJECT}", "syntax-error", "an object inside of a text, which kubectl refuses: remove what stands"),
    ],
)
def test_a_value_in_the_place_of_an_object(text: str, rule: str, message: str) -> None:
    """Kubectl refuses the whole file; an object that may be meant is a gap."""
    snapshot = _load(f"{CM % 'a'}---\n{text}\n")
    (diagnostic,) = snapshot.diagnostics
    assert (diagnostic.rule, diagnostic.message[: len(message)]) == (rule, message)
    assert [gap.reason for gap in snapshot.gaps] == ([diagnostic.message] if rule == "syntax-error" else [])
    assert len(snapshot.resources) == 1


def test_numbers_between_objects_in_json() -> None:
    """One problem for all on a line: JSON reads a date as several."""
    diagnostics = _load(f"{OBJECT}2001-01-01\n{OBJECT}").diagnostics
    assert [(found.rule, found.origin) for found in diagnostics] == [
        ("no-kind", Origin("<stdin>", 1)),
        ("duplicate-object", Origin("<stdin>", 2)),
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("kind: A\nmetadata: {name: a}\nspec: {}", "no-kind"),
        ("apiVersion: a.io/v1\nmetadata: {generateName: a}\nspec: {}", "no-kind"),
        (f"- {OBJECT}", "no-kind"),
        (f"// a\n{OBJECT}", "syntax-error"),
        # Of what values files have as well, nothing is said.
        ("kind: A\nmetadata: {labels: {}}\nspec: {}", ""),
        ("kind: A\nmetadata: a\nspec: {}", ""),
        ("kind: A\nspec: {}\nname: metadata", ""),
        ("metadata: {name: kind}\nspec: {}", ""),
        ("- op: add\n  value: {apiVersion: v1, kind: A}", ""),
        ("a text about apiVersion and kind", ""),
    ],
)
def test_a_file_that_is_meant_as_an_object(tmp_path: Path, text: str, rule: str) -> None:
    """It has no valid object, and is reported beside files that have some."""
    (tmp_path / "a.yaml").write_text(CM % "a")
    (tmp_path / "b.yaml").write_text(text)
    diagnostics = load_manifests(tmp_path).diagnostics
    expected = [(rule, Origin(f"{tmp_path}/b.yaml", 1))] if rule else []
    assert [(found.rule, found.origin) for found in diagnostics] == expected


def test_many_problems_alike_are_reported_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each rule; a last one stands for the rest, and so does a gap in which anything may be."""
    monkeypatch.setattr(reading, "MAX_ALIKE", 2)
    monkeypatch.setattr(documents, "MAX_UNREAD", 3)
    snapshot = _load(CM % "a" + "---\nkind: A\n" * 5 + "---\na: [\n" * 5)
    more = "more problems like the 2 above it: no more of them are reported for this file"
    found = [(diagnostic.rule, diagnostic.origin, diagnostic.message) for diagnostic in snapshot.diagnostics]
    assert [(rule, origin.line, message == more) for rule, origin, message in found if origin] == [
        *[("no-kind", line, line == 9) for line in (5, 7, 9)],
        *[("syntax-error", line, line == 20) for line in (16, 18, 20)],
    ]
    assert [gap.reason == more for gap in snapshot.gaps] == [False, False, True]
    assert snapshot.gaps[-1].mentions is None


def test_one_name_twice() -> None:
    """The later one counts, as for kubectl apply; both places are named."""
    first, second = f"{CM % 'a'}data: {{x: y}}\n", f"{CM % 'a'}data: {{x: z}}\n"
    snapshot = _load(f"{first}---\n{second}---\n{second}")
    (resource,) = snapshot.resources
    assert (resource.raw["data"], resource.origin.line) == ({"x": "z"}, 11)
    assert _rules(snapshot) == [("duplicate-object", "warning", 6), ("duplicate-object", "info", 11)]
    assert "<stdin>:1" in snapshot.diagnostics[0].message
    assert snapshot.diagnostics[0].subject == resource.ref


ROUTE = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a}\n"


@pytest.mark.parametrize("last", [False, True])
def test_a_part_of_an_object_never_counts_instead_of_it(*, last: bool) -> None:
    """What lacks a spec is a patch, and the object that it is for has one."""
    whole, part = ROUTE + "spec: {hostnames: [a.example]}\n", ROUTE + "status: {}\n"
    snapshot = _load(f"{whole}---\n{part}" if last else f"{part}---\n{whole}")
    (resource,) = snapshot.resources
    assert "spec" in resource.raw
    (diagnostic,) = snapshot.diagnostics
    assert (diagnostic.rule, diagnostic.severity, diagnostic.origin) == (
        "duplicate-object",
        "warning",
        Origin("<stdin>", 6),
    )
    assert f"what is {'there' if last else 'here'} counts" in diagnostic.message


def test_namespaces_are_resolved() -> None:
    """Its own, else the one asked for; none where the kind has none, even if its definition comes later."""
    text = "apiVersion: {}\nkind: {}\nmetadata: {{name: {}}}\n---\n"
    snapshot = _load(
        CM % "a, namespace: other"
        + "---\n"
        + CM % "b, namespace: null"
        + "---\n"
        + text.format("v1", "Namespace", "apps, namespace: wrong")
        + text.format("example.com/v1", "Tenant", "t")
        + text.format("example.com/v1", "Unknown", "u")
        + "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: tenants.example.com}\n"
        + "spec: {group: example.com, scope: Cluster, names: {kind: Tenant, plural: tenants}}\n",
        namespace="asked",
    )
    assert _names(snapshot) == [
        "ConfigMap other/a",
        "ConfigMap asked/b",
        "Namespace apps",
        "Tenant t",
        "Unknown asked/u",
        "CustomResourceDefinition tenants.example.com",
    ]
    assert snapshot.resources[0].ref == ObjectRef(GroupKind("", "ConfigMap"), "other", "a")


def test_lists() -> None:
    """Of kubectl get, of the API itself, and within each other; each item on its own line."""
    text = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a}
- apiVersion: gateway.networking.k8s.io/v1
  kind: HTTPRouteList
  items:
  - metadata: {name: r}
- {apiVersion: v1, kind: EmptyList, items: null}
---
apiVersion: v1
kind: AllowList
metadata: {name: l}
spec: {}
---
apiVersion: v1
kind: AllowList
metadata: {name: m}
items: {}
"""
    snapshot = _load(text)
    assert [(str(resource.ref), resource.origin.line) for resource in snapshot.resources] == [
        ("ConfigMap default/a", 4),
        ("HTTPRoute default/r", 10),
        ("AllowList default/l", 13),
        ("AllowList default/m", 18),
    ]
    assert snapshot.resources[1].raw == {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "r"},
    }


def test_lists_in_lists_in_lists() -> None:
    inner: object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    for _ in range(90):
        inner = {"apiVersion": "v1", "kind": "List", "items": [inner]}
    assert _names(_load(json.dumps(inner))) == ["ConfigMap default/a"]


@pytest.mark.parametrize(
    ("written", "created"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("null", None),
        ("yesterday", None),
        ("5", None),
        ("2026-01-02T03:04:05", None),
        ("[]", None),
    ],
)
def test_when_an_object_was_created(written: str, created: datetime | None) -> None:
    """A time without its zone is not a time."""
    (resource,) = _load(CM % f"a, creationTimestamp: {written}").resources
    assert resource.created == created


def test_odd_content_is_data() -> None:
    """Escape sequences, line breaks and wrong shapes are for others to judge."""
    snapshot = _load(
        CM % r'"a\e[31m\nb"'
        + "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g}\nspec: {listeners: x}\n"
        + "---\napiVersion: example.io/v1\nkind: P\nmetadata: {name: p}\nspec: {targetRefs: 5}\n"
    )
    name, gateway, policy = snapshot.resources
    assert name.ref.name == "a\x1b[31m\nb"
    assert (gateway.raw["spec"], policy.raw["spec"]) == ({"listeners": "x"}, {"targetRefs": 5})
    assert snapshot.diagnostics == ()


def test_the_world_is_open_unless_the_caller_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbf# x\r\n" + (CM % "a").replace("\n", "\r\n").encode())
    assert not load_manifests([path]).complete
    snapshot = load_manifests([str(path)], options=InputOptions(complete=True))
    assert snapshot.complete
    assert snapshot.resources[0].origin == Origin(str(path), 2)


def test_values_of_variables_are_filled_in(tmp_path: Path) -> None:
    """Before anything is read, so that they may be names and numbers; without a value, nothing is."""
    file = tmp_path / "a.yaml"
    file.write_text(CM % "'${A}-${B:-b}-${C}'" + 'data: {port: "${PORT}"}\n---\n' + CM % "$$x")
    told = load_manifests([file], options=InputOptions(values={"A": "a", "B": "", "PORT": "80"}))
    assert _names(told) == ["ConfigMap default/a-b-${C}", "ConfigMap default/$x"]
    assert told.resources[0].raw["data"] == {"port": 80}
    assert _names(load_manifests([file])) == ["ConfigMap default/${A}-${B:-b}-${C}", "ConfigMap default/$$x"]


def test_values_that_do_not_fit_cost_one_document() -> None:
    """They can break what they stand in, as in Flux, and no other document; too many of them are refused."""
    text = CM % "${A}" + "---\n" + CM % "b"
    told = load_manifests(["-"], stdin=io.StringIO(text), options=InputOptions(values={"A": "a: ["}))
    assert (_names(told), _rules(told)) == (["ConfigMap default/b"], [("syntax-error", "error", 3)])
    text = CM % "b" + "---\n" + "${A}" * 40
    with pytest.raises(SourceError, match="million characters"):
        load_manifests(["-"], stdin=io.StringIO(text), options=InputOptions(values={"A": "a" * 2**20}))


def test_what_files_say_of_other_files() -> None:
    """Kustomizations and charts are read, whether they are objects or not; one that is broken says nothing."""
    texts = {
        "a/kustomization.yaml": "namespace: apps\n",
        "b/Kustomization": "---\n---\nnamespace: b\n---\nnamespace: c\n",
        "c/Chart.yaml": "apiVersion: v2\nname: c\n",
        "main:kustomization.yml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        "d/kustomization.yaml": "resources: [",
        "e/kustomization.yaml": "",
        "e/other.yaml": "namespace: apps\n",
    }
    reading = Reading({})
    for path in texts:
        reading.read_file(InputFile(path, root="."), texts.__getitem__)
    assert {path: found and found.value for path, found in reading.others.items()} == {
        "a/kustomization.yaml": {"namespace": "apps"},
        "b/Kustomization": {"namespace": "b"},
        "c/Chart.yaml": {"apiVersion": "v2", "name": "c"},
        "main:kustomization.yml": {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"},
        "d/kustomization.yaml": None,
        "e/kustomization.yaml": None,
    }
    assert (reading.gaps, reading.ignored) == ([], len(texts))


@pytest.mark.parametrize("named", [("one", "two"), ("one/a.yaml", "two/a.yaml")])
def test_of_what_several_paths_mean_the_later_one_counts(tmp_path: Path, named: tuple[str, str]) -> None:
    """As for `kubectl apply -f A -f B`; only in the folders of one path are they alternatives."""
    for folder, value in (("one", "1"), ("two", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.yaml").write_text(f"{CM % 'a'}\nspec: {{value: {value}}}\n")
    for paths in (named, named[::-1]):
        snapshot = load_manifests([tmp_path / path for path in paths])
        assert [resource.origin.source for resource in snapshot.resources] == [str(tmp_path / paths[1][:3] / "a.yaml")]
        assert not snapshot.gaps
        assert [problem.rule for problem in snapshot.diagnostics] == ["duplicate-object"]
    assert load_manifests([tmp_path]).gaps
