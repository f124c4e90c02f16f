"""What can be told of a text that is not read."""

import time

import pytest

from kubectl_policy.model import GroupKind
from kubectl_policy.sources.mentions import ANYTHING, gap_of_text, looks_like_an_object, may_hold_objects, mentions_of

ROUTE = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
POLICY = "apiVersion: example.com/v1\nkind: RetryPolicy\n"


def _named(text: str) -> tuple[str, str, str]:
    found = gap_of_text(text)
    return found.kind, found.namespace, found.name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiVersion: v1\nkind: Service", True),
        ("# apiVersion, kind", True),
        ("kind: Service", False),
        ("apiVersion: v2\nname: chart", False),
        ('{"\\u0061": 1}', True),
        ('{"\\u003c": "\\n\\u2028"}', False),
        ('"\\x6bind": 1', True),
        ('"\\U0000006bind": 1', True),
        ('? "ki\\\nnd"\n: 1', True),
        ("!!binary a2luZA==: 1", True),
        ("%TAG !b! tag:yaml.org,2002:bin\n---\n!b!ary a2luZA==: 1", True),
        ("a: !reference [b, c]", False),
    ],
)
def test_whether_objects_may_be_in_a_text(text: str, *, expected: bool) -> None:
    """Without both words there are none, unless something else may spell them."""
    assert may_hold_objects(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ROUTE, True),
        ("  - 'apiVersion': v1\n    \"kind\" : x", True),
        ("{apiVersion: v1,kind: x", True),
        ("? apiVersion\n: v1\nkind: [", True),
        ("&a apiVersion: v1\n&b kind: [", True),
        ("text: the kind and the apiVersion of", False),
        ("myKind: a\napiVersion: b", False),
        ("kinds: a\napiVersion: b", False),
    ],
)
def test_whether_a_text_has_the_keys_of_an_object(text: str, *, expected: bool) -> None:
    """Wherever they are: what cannot be read may be anything that has them."""
    assert looks_like_an_object(text) is expected


@pytest.mark.parametrize(
    ("metadata", "namespace", "name"),
    [
        ("metadata:\n  name: a\n  namespace: b\n", "b", "a"),
        ("metadata:\n    namespace: 'b' # why\n\n# c\n    name: \"a\"\nspec:\n  name: z\n", "b", "a"),
        ("metadata:\r\n  name: a\r\n  namespace: b\r\n", "b", "a"),
        ("metadata: {name: a, namespace: b}\n", "b", "a"),
        ("metadata: {name: a}\n", "", "a"),
        ("metadata:\n  name: a\n  name: b\n", "", ""),
        ("metadata:\n  name: a\n  labels:\n    name: z\n    app.kubernetes.io/name: z\n", "", ""),
        ("metadata:\n  name: {{ .Values.name }}\n  namespace: ${NS}\n", "", ""),
        ("metadata:\n  {{ if .a }}\n  namespace: a\n  {{ else }}\n  namespace: b\n  {{ end }}\n", "", ""),
        ("metadata:\n  <<: *m\n  name: a\n", "", ""),
        ("metadata:\n  name: a\nmetadata:\n  name: b\n", "", ""),
        ("metadata: *m\n", "", ""),
        ("spec:\n  metadata:\n    name: a\n", "", ""),
        ("", "", ""),
    ],
)
def test_the_name_of_a_broken_object(metadata: str, namespace: str, name: str) -> None:
    assert _named(ROUTE + metadata) == ("HTTPRoute", namespace, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        ROUTE + "kind: Service\n",
        ROUTE + "'kind': Service\n",
        ROUTE + "apiVersion: v1\n",
        "kind: HTTPRoute\nmetadata: {name: a}\n",
        "  apiVersion: v1\n  kind: Service\n",
        "apiVersion: v1\nkind: List\nitems:\n- [\n",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRouteList\nmetadata: {name: a}\n",
        "apiVersion: v1\nkind: {{ .kind }}\n",
        "apiVersion: {{ .api }}\nkind: Service\n",
        "apiVersion: v1\nkind: *k\n",
        "apiVersion: v1\nkind: A B\n",
    ],
)
def test_what_nothing_can_be_told_of(text: str) -> None:
    """It may be any object, and be about any other."""
    assert gap_of_text(text) == ANYTHING


def test_the_words_in_a_broken_object() -> None:
    """Of what refers to others by name, nothing else is named in it; a policy is about its targets."""
    text = ROUTE + "spec:\n  hostnames: ['*.example.com']\n  backendRefs: [{name: echo-1, port: 80}, {name: apps/api\n"
    assert {"echo-1", "80", "apps", "api", "example.com", "HTTPRoute"} <= (gap_of_text(text).mentions or set())
    assert "echo" not in (gap_of_text(text).mentions or {"echo"})
    policy = POLICY + "spec:\n  targetRef: {kind: Gateway, name: edge}\n  retries: [\n"
    assert "edge" in (gap_of_text(policy).mentions or ())


@pytest.mark.parametrize(
    "text",
    [
        ROUTE + "spec: {parentRefs: {{ toYaml .Values.parents }}}\n",
        ROUTE + "spec: {parentRefs: [{name: ${GATEWAY}}\n",
        ROUTE + "spec: {parentRefs: [{name: ENC[AES256_GCM,data:x]\n",
        ROUTE + 'spec: {parentRefs: [{name: "\\x65dge"\n',
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nspec: {allowedRoutes: {selector: [\n",
        POLICY + "spec: {targetSelectors: [{matchLabels: {a: b}\n",
        POLICY + "spec:\n  targetRefs:\n  - name: a\n  podSelector: [\n",
        POLICY + "spec: {retries: [\n",
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {ingress: [\n",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: [\n",
        "apiVersion: v1\nkind: Event\nspec: [\n",
        "apiVersion: example.com/v1\nkind: Deployment\nspec: [\n",
        ROUTE + "spec: [" + "a" * 300_000,
        ROUTE + "spec: [" + " ".join(f"a{number}" for number in range(6_000)),
    ],
)
def test_a_broken_object_that_may_be_about_anything(text: str) -> None:
    """By templates, by labels, by namespace; or there is too much in it to tell."""
    assert gap_of_text(text).kind
    assert gap_of_text(text).mentions is None


@pytest.mark.parametrize("kind", ["apps/v1 Deployment", "v1 Secret", "v1 Service", "batch/v1 Job", "v1 Namespace"])
def test_a_broken_object_of_kubernetes_itself(kind: str) -> None:
    """It may be missed where it is named, and names nothing that policies are about."""
    api_version, kind = kind.split(" ")
    found = gap_of_text(f"apiVersion: {api_version}\nkind: {kind}\nspec: {{selector: {{a: {{{{ .b }}}}}}\n")
    assert (found.kind, found.mentions) == (kind, frozenset())


def test_the_words_in_a_value() -> None:
    route = GroupKind("gateway.networking.k8s.io", "HTTPRoute")
    words = mentions_of(route, {"a": [{"b": "c d"}, 5, None, True]})
    assert words == frozenset({"a", "b", "c", "d", "5", "None", "True"})
    assert mentions_of(None, {"spec": {"retries": 5}}) is None
    assert mentions_of(None, {"spec": {"targetRef": {"name": "x"}}}) == frozenset({"spec", "targetRef", "name", "x"})
    assert mentions_of(route, ["x"] * 30_000) is None
    assert mentions_of(route, {"a": "{{ .b }}"}) is None


def test_large_texts_take_no_time() -> None:
    started = time.perf_counter()
    parts = (
        " ",
        "\n",
        "a",
        "kind:",
        "\n ",
        "metadata:\n",
        "metadata:\n\n",
        "{{",
        "name:",
        "!",
        "#\n",
        "'",
        "{,",
        "a-",
        "\\",
    )
    for part in parts:
        text = ROUTE + "metadata:\n" + part * 50_000
        gap_of_text(text)
        may_hold_objects(text.replace("kind", "kin"))
        looks_like_an_object(text)
    assert time.perf_counter() - started < 10
