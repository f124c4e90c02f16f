"""The page of the bakery, of what is hostile, of much, and of two states."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Opened, Printed

BAKERY: Final = ("--offline", "fixtures/bakery")
GATEWAY_API: Final = "gateway.networking.k8s.io"
HOSTILE: Final = r"""
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: "<img src=x onerror=hacked=1>", namespace: "a</script><script>hacked=1</script>"}
spec:
  gatewayClassName: "javascript:hacked=1"
  listeners: [{name: "</title><b>http", protocol: HTTP, port: 80, hostname: "\u202e<!--<script>\u2028.example"}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: "\"><svg onload=hacked=1>", namespace: "a</script><script>hacked=1</script>"}
spec:
  parentRefs: [{name: "<img src=x onerror=hacked=1>"}]
  hostnames: ["##[error]{{title}}<!-- data -->"]
  rules: [{name: "]>, label=<x", backendRefs: [{name: "s\\N\"", port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: "s\\N\"", namespace: "a</script><script>hacked=1</script>"}
spec: {ports: [{port: 80}]}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: "javascript:hacked=1", namespace: "a</script><script>hacked=1</script>"}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: "\"><svg onload=hacked=1>"}
  color: "<script>hacked=1</script>##vso[task]&quot;\u0000\ud800"
  size: "::error::<iframe src=javascript:hacked=1>"
"""


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the fixtures are."""
    monkeypatch.chdir(Path(__file__).parent.parent.parent)


def asked(page: Page, expression: str) -> Any:  # noqa: ANN401 (what JavaScript says)
    """What an expression is in the page."""
    return page.evaluate(expression)


def until(page: Page, expression: str) -> None:
    """Wait for something to be true; Playwright's own way needs `eval`, which pages forbid."""
    deadline = time.monotonic() + 15
    while not asked(page, expression):
        assert time.monotonic() < deadline, f"never true: {expression}"
        page.wait_for_timeout(20)


def address(ref: dict[str, str]) -> str:
    """`#HTTPRoute/baker/menu/cream`."""
    parts = [ref["kind"], ref["namespace"], ref["name"], ref.get("section", "")]
    return f"#{'/'.join(parts[: 4 if parts[3] else 3])}"


def select(page: Page, wanted: str) -> None:
    """Go to an address within the page."""
    asked(page, f"location.hash = {json.dumps(wanted)}")
    until(page, f"graph.selected() === {json.dumps(wanted)}")


def test_a_page_shows_all_of_the_bakery(opened: Opened) -> None:
    """Each object and each policy is a box with a name that a screen reader reads."""
    page = opened(*BAKERY)
    assert len(asked(page, "graph.visible()")) == len(asked(page, "graph.data.objects"))
    names = page.locator("#drawing a").evaluate_all("all => all.map((each) => each.ariaLabel.split(' · ')[0])")
    assert len(set(names)) == len(names)
    assert {"Gateway infra/edge", "HTTPRoute baker/menu, rule cream", "RetryPolicy baker/resilience"} <= {*names}
    assert "HTTPRoute baker/wedding-cakes" in page.locator("#panel").inner_text()
    assert page.title() == "kubectl policy graph"


def test_a_policy_lights_up_exactly_what_it_affects(opened: Opened, printed: Printed) -> None:
    """As `blast-radius` has it, for every policy of the bakery; and what deleting it would change is told."""
    page = opened(*BAKERY)
    policies = json.loads(printed("get", "policies", "-A", *BAKERY, "-o", "json"))["items"]
    assert len(policies) == 11
    for policy in policies:
        ref = policy["policy"]
        name = f"{ref['kind'].lower()}/{ref['name']}"
        answer = json.loads(printed("blast-radius", name, "-n", ref["namespace"], *BAKERY, "-o", "json"))
        select(page, address(ref))
        lit = asked(page, "graph.lit()")
        assert (sorted(map(address, answer["affected"])), {}) == (lit["nodes"], lit["groups"]), name
        told = page.locator("#panel").inner_text()
        assert answer["headline"] in told
        links = page.locator("#panel section", has=page.get_by_role("heading", name="Blast radius")).locator("a")
        assert sorted(each.get_attribute("href") or "" for each in links.all()) == lit["nodes"]


def test_the_settings_of_routes_are_those_of_describe(opened: Opened, printed: Printed) -> None:
    """Kind, paths, fields and values, of every route and Service of the bakery; and of a rule, those on its paths."""
    page = opened(*BAKERY)
    kinds = asked(page, "graph.data.kinds")
    found = 0
    for thing in asked(page, "graph.data.objects"):
        kind = kinds[thing["kind"]]
        if thing.get("s") or kind not in {"HTTPRoute", "GRPCRoute", "Service"}:
            continue
        name = f"{kind.lower()}/{thing['name']}"
        answer = json.loads(printed("describe", name, "-n", thing["namespace"], *BAKERY, "-o", "json"))
        select(page, f"#{kind}/{thing['namespace']}/{thing['name']}")
        assert _settings(page) == sorted(_described(group, answer) for group in answer["inForce"]), name
        found += len(answer["inForce"])
    assert found > 15
    select(page, "#HTTPRoute/baker/menu/cream")
    assert [words for words, _ in _settings(page)] == [
        "BackendTLSPolicy",
        *["RetryPolicy 1/2"] * 2,
        "TimeoutPolicy 1/2",
    ]


def _settings(page: Page) -> list[tuple[str, list[str]]]:
    """What the panel says is in force: the kind with how many paths of how many, and `field value by`."""
    told = page.locator("#panel .outcome").evaluate_all(
        """all => all.map((each) => [
            each.querySelector("h4").firstChild.textContent,
            each.querySelector(".scope")?.firstChild.textContent ?? "",
            [...each.querySelectorAll("tbody tr")].map((row) => [
                row.querySelector("th").textContent, row.querySelector(".value").textContent,
                row.querySelector(".by a").textContent].join(" ")),
        ])"""
    )
    return sorted(
        (f"{kind} {'/'.join(w for w in scope.split() if w.isdigit())}".strip(), rows) for kind, scope, rows in told
    )


def _described(group: dict[str, Any], answer: dict[str, Any]) -> tuple[str, list[str]]:
    some, every = len(group["paths"]), len(answer["paths"])
    kind = group["policyKind"]["kind"] + (f" {some}/{every}" if some < every else "")
    rows: list[str] = []
    for setting in group["settings"]:
        value, by = setting["value"], setting["source"]["object"]
        shown = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        rows.append(f"{setting['field']} {shown} {by['kind']} {by['namespace']}/{by['name']}")
    return kind, rows


def test_the_keyboard_is_enough(opened: Opened) -> None:
    """Find, select, walk along the arrows and beside them, select again, and let go."""
    page = opened(*BAKERY)
    keyboard = page.keyboard
    keyboard.press("/")
    keyboard.type("menu")
    assert page.locator("#found [aria-selected=true]").inner_text().split() == ["HTTPRoute", "baker/menu"]
    keyboard.press("Enter")
    until(page, "graph.selected() === '#HTTPRoute/baker/menu'")
    assert page.locator("#panel h2").inner_text() == "menu"
    focused = "document.activeElement.getAttribute('href')"
    until(page, f"{focused} === '#HTTPRoute/baker/menu'")
    walked: list[str] = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowLeft"):
        keyboard.press(key)
        walked.append(asked(page, focused))
    port, rule, below, listener = walked
    assert port.startswith("#Service/")
    assert rule.startswith("#HTTPRoute/")
    assert below != rule
    assert listener.startswith("#Gateway/infra/")
    keyboard.press("Enter")
    until(page, f"graph.selected() === {json.dumps(listener)}")
    keyboard.press("Escape")
    until(page, "graph.selected() === null")


def test_an_address_selects_and_filters_hide(opened: Opened) -> None:
    """What was sent on opens there; going back goes back; what is chosen is shown though a filter hides it."""
    page = opened(*BAKERY, address="#RetryPolicy/baker/own")
    assert asked(page, "graph.lit()")["nodes"] == ["#HTTPRoute/baker/events", "#Service/baker/till"]
    select(page, "#HTTPRoute/baker/old")
    page.go_back()
    until(page, "graph.selected() === '#RetryPolicy/baker/own'")
    everything = len(asked(page, "graph.visible()"))
    page.get_by_role("checkbox", name="RetryPolicy").uncheck()
    until(page, f"graph.visible().length === {everything - 5}")
    select(page, "#RetryPolicy/baker/quick")
    until(page, f"graph.visible().length === {everything}")
    page.get_by_role("checkbox", name="conflicted").uncheck()
    until(page, f"graph.visible().length === {everything - 1}")
    page.get_by_role("button", name="Only what is connected").click()
    until(page, "graph.visible().length < 12")
    asked(page, "location.hash = '#HTTPRoute/baker/nothing'")
    page.get_by_text("There is nothing here called HTTPRoute/baker/nothing").wait_for()


def test_dark_light_and_paper(opened: Opened) -> None:
    """The picture has other colours in the dark, and is one page on paper."""
    page = opened(*BAKERY, dark=True)
    fill = "getComputedStyle(drawing.querySelector('.object a > polygon')).fill"
    dark = asked(page, fill)
    page.get_by_role("button", name="Theme").click()
    assert asked(page, fill) != dark
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1
    page.emulate_media(media="print")
    assert not page.locator("#panel").is_visible()
    assert page.locator("#legend").is_visible()


def test_what_is_hostile_stays_text(opened: Opened, tmp_path: Path) -> None:
    """Names, hostnames and values that would be markup, scripts, entities, DOT, or commands to a CI."""
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "all.yaml").write_text(HOSTILE, "utf-8")
    page = opened("--offline", manifests)
    for place in range(len(asked(page, "graph.data.objects"))):
        asked(page, f"location.hash = permalink(selectedObject({place}))")
        until(page, f"graph.selected() === permalink(selectedObject({place}))")
    drawn = page.locator("#drawing text").all_text_contents()
    names = {"<img src=x onerror=hacked=1>", '"><svg onload=hacked=1>', 's\\N"', "##[error]{{title}}<!-- data -->"}
    assert names <= {*drawn}
    told = page.locator("body").inner_text()
    assert all(name in told for name in names)
    assert "\u202e" not in page.locator("body").inner_text()
    assert asked(page, "document.querySelectorAll('img, iframe, object, b:empty').length") == 0
    assert asked(page, "window.hacked") is None


def test_much_opens_folded(opened: Opened, tmp_path: Path) -> None:
    """The page is readable at once; what is searched for is drawn by itself; too much is not unfolded."""
    (tmp_path / "world.yaml").write_text(_world(namespaces=30, routes=25), "utf-8")
    page = opened("--offline", tmp_path / "world.yaml")
    assert len(asked(page, "graph.visible()")) < 40
    page.locator("#search").fill("shop-7 team-12")
    page.keyboard.press("Enter")
    until(page, "graph.selected() === '#HTTPRoute/team-12/shop-7'")
    assert page.locator("#drawing .sel").count() == 1
    select(page, "#RetryPolicy/infra/global")
    lit = asked(page, "graph.lit()")
    assert lit["nodes"] == ["#Gateway/infra/edge", "#HTTPRoute/team-12/shop-7"]
    assert sum(lit["groups"].values()) == 30 * 25 * 2 - 1
    before = len(asked(page, "graph.visible()"))
    page.locator("#drawing a[aria-label*='namespace team-3,']").click()
    until(page, f"graph.visible().length > {before}")


def _world(namespaces: int, routes: int) -> str:
    """Namespaces with so many routes each, all behind one Gateway with a policy."""
    gateway = {"group": GATEWAY_API, "kind": "Gateway", "name": "edge"}
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    objects = [
        _object(f"{GATEWAY_API}/v1", "Gateway", "infra", "edge", gatewayClassName="public", listeners=[listener]),
        _object("example.io/v1", "RetryPolicy", "infra", "global", attempts=2, targetRefs=[gateway]),
        {
            **_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "retrypolicies.example.io"),
            "metadata": {"name": "retrypolicies.example.io", "labels": {f"{GATEWAY_API}/policy": "inherited"}},
            "spec": {
                "group": "example.io",
                "scope": "Namespaced",
                "names": {"kind": "RetryPolicy", "plural": "retrypolicies"},
                "versions": [{"name": "v1", "served": True, "storage": True}],
            },
        },
    ]
    for team in (f"team-{place}" for place in range(namespaces)):
        for number in range(routes):
            parents, backends = [{"name": "edge", "namespace": "infra"}], [{"name": f"svc-{number}", "port": 80}]
            objects += [
                _object(
                    f"{GATEWAY_API}/v1",
                    "HTTPRoute",
                    team,
                    f"shop-{number}",
                    parentRefs=parents,
                    hostnames=[f"shop-{number}.{team}.example.com"],
                    rules=[{"backendRefs": backends}],
                ),
                _object("v1", "Service", team, f"svc-{number}", ports=[{"port": 80}]),
            ]
    return "\n---\n".join(map(json.dumps, objects))


def _object(version: str, kind: str, namespace: str, name: str, **spec: object) -> dict[str, object]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_two_states_are_told_apart(opened: Opened) -> None:
    """What is gone, what is not the same, and where other settings are in force."""
    page = opened(*BAKERY, "--delete", "retrypolicy/resilience", "-n", "baker")
    told = page.locator("#panel").inner_text()
    assert "What differs" in told
    differing = page.locator("#panel section", has=page.get_by_role("heading", name="What differs"))
    links = {each.get_attribute("href") for each in differing.locator("a").all()}
    assert {"#RetryPolicy/baker/resilience", "#RetryPolicy/infra/global", "#HTTPRoute/baker/menu"} <= links


def test_a_page_without_workers_draws_as_well(opened: Opened) -> None:
    """Graphviz runs in the page itself then; its script is one that the page's policy names."""
    page = opened(*BAKERY)
    alone = page.context.new_page()
    alone.add_init_script("globalThis.Worker = class { constructor() { throw new Error('none') } }")
    alone.goto(page.url)
    alone.wait_for_selector("html[data-ready]", state="attached")
    assert len(asked(alone, "graph.visible()")) == len(asked(page, "graph.visible()"))
    assert asked(alone, "!worker && Boolean(graphvizHere)")
