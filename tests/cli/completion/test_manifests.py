"""Candidates from manifests and from the command line itself, as far as it is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.core import TyperOption

from kubectl_policy.cli.app import all_names, build_command
from kubectl_policy.cli.completion.candidates import ARGUMENTS, rule_tiers
from kubectl_policy.cli.syntax import COMMANDS, parse_line
from kubectl_policy.lint.rules import RULES
from tests.cli.completion.conftest import BAKERY, Offered

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

NO_FILES, NO_SPACE, FILES, FOLDERS_ONLY, YAML = ":4", ":6", ":0", ":16", ["yaml", "yml", "json", ":8"]
ROUTES = ["httproute/baker", "httproute/events", "httproute/menu", "httproute/old", "httproute/till"]


def options_of(command: str) -> list[TyperOption]:
    return [parameter for parameter in build_command(command).params if isinstance(parameter, TyperOption)]


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate", ""),
        ("describe", "--unheard-of", "--color=x"),
        ("describe", "--color", "x"),
        ("describe", "--hostname=x"),
        ("version", ""),
        ("completion", "bash", ""),
        ("describe", "--offline", "/nowhere/at/all", "httproute/"),
        ("describe", "--offline", BAKERY, "frobnicator/"),
        ("describe", "--offline", BAKERY, "httproute/baker/none"),
        ("describe", "--offline", "-", "httproute/"),
        ("describe", "--offline", BAKERY, "--section", ""),
        ("describe", "--offline", BAKERY, "gateway/none", "--section", ""),
        ("describe", "--offline", BAKERY, "--default-namespace", "x", "--set", ""),
        ("blast-radius", "--offline", BAKERY, "httproute/baker/baker", ""),
        ("history", "--offline", BAKERY, "retrypolicy", "own", ""),
        ("why-not", "--offline", BAKERY, "retrypolicy/baker/own", "httproute/baker/baker", ""),
        ("explain", "--offline", BAKERY, "retrypolicy", ""),
        ("diff", "a", "b", ""),
    ],
)
def test_where_there_is_nothing_to_say_nothing_is_offered(offered: Offered, arguments: tuple[str, ...]) -> None:
    assert offered(*arguments) == [NO_FILES]


def test_commands_are_offered_with_what_they_do(offered: Offered) -> None:
    assert offered("") == [*COMMANDS, NO_FILES]
    assert offered("de") == ["describe", NO_FILES]
    assert offered("-") == ["--version", "-h", "--help", NO_FILES]
    assert offered() == offered("")


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_those_of_the_command(offered: Offered, name: str) -> None:
    names = {opt for option in options_of(name) for opt in all_names(option)} | {"-h", "--help"}
    assert set(offered(name, "-")) == {*names, NO_FILES}
    assert set(offered(name, "--")) == {item for item in names if item.startswith("--")} | {NO_FILES}


def test_every_command_that_takes_words_completes_them() -> None:
    with_words = {name for name in COMMANDS if len(build_command(name).params) > len(options_of(name))}
    assert with_words == ARGUMENTS.keys()


def test_an_option_is_offered_once_unless_it_may_be_repeated(offered: Offered) -> None:
    left = offered("describe", "--color=never", "--offline", "x", "--blame", "-")
    assert "--color" not in left
    assert "--blame" not in left
    assert "--offline" in left


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("get", "-o", "ta"), ["table", NO_FILES]),
        (("get", "--output=js"), ["json", "jsonpath-as-json=", "jsonpath-file=", "jsonpath=", NO_FILES]),
        (("get", "--output=custom"), ["custom-columns-file=", "custom-columns=", NO_SPACE]),
        (("get", "--output=custom-columns="), [NO_FILES]),
        (("get", "-o", "go-template-file=a"), [FILES]),
        (("status", "--field-selector", ""), ["metadata.name=", "metadata.namespace=", NO_SPACE]),
        (
            ("get", "--field-selector", "metadata.name=a,metadata.names"),
            ["metadata.name=a,metadata.namespace=", NO_SPACE],
        ),
        (("get", "--field-selector", "metadata.name="), [NO_FILES]),
        (("get", "--field-selector=spec.type=C"), [NO_FILES]),
        (("version", "-o", ""), ["json", "yaml", NO_FILES]),
        (("get", "--of", ""), ["gateways", "routes", "services", NO_FILES]),
        (("describe", "--color", "a"), ["always", "auto", NO_FILES]),
        (("describe", "--no-r"), ["--no-render", NO_FILES]),
        (("get", "--enforcement", "Over"), ["Overridden", NO_FILES]),
        (("get", "--enforcement", "Overridden,No"), ["Overridden,NoEffect", "Overridden,NotPermitted", NO_FILES]),
        (("describe", "--offline", ""), [FILES]),
        (("describe", "--profiles", ""), YAML),
        (("diff", "-f", ""), YAML),
        (("diff", ""), [FILES]),
        (("snapshot", "-o", ""), [FILES]),
        (("diff", "main:a", ""), [FILES]),
        (("lint", ""), [FILES]),
        (("lint", "a.yaml", ""), [FILES]),
        (("lint", "-f", ""), YAML),
        (("lint", "--select", "GWP100"), [*(f"GWP100{place}" for place in range(1, 10)), NO_FILES]),
        (("lint", "--select", "target-not"), ["target-not-found", "target-not-enabled", NO_FILES]),
        (("lint", "--ignore", "GWP1,target-not-f"), ["GWP1,target-not-found", NO_FILES]),
        (("lint", "--ignore", "target-not-found,target-not-f"), [NO_FILES]),
        (("lint", "--severity", "GWP1001"), ["GWP1001=", NO_SPACE]),
        (("lint", "--severity", "target-not-f"), ["target-not-found=", NO_SPACE]),
        (("lint", "--severity", "GWP1001=i"), ["GWP1001=info", NO_FILES]),
        (("lint", "--severity=GWP1="), [f"GWP1={text}" for text in ("error", "info", "off", "warning")] + [NO_FILES]),
        (("lint", "--fail-on", ""), ["error", "info", "never", "warning", NO_FILES]),
        (("lint", "--min-severity", "w"), ["warning", NO_FILES]),
        (("lint", "--format", "j"), ["json", "json=", "junit", "junit=", NO_FILES]),
        (("lint", "--format", "sarif="), [FILES]),
        (("lint", "-o", "s"), ["sarif", "summary", NO_FILES]),
        (("lint", "--baseline", ""), [FILES]),
        (("lint", "--write-baseline", ""), [FILES]),
        (("lint", "--config", ""), [FILES]),
        (("lint", "--diff-base", ""), [FILES]),
        (("lint", "--context-from", ""), [FILES]),
        (("completion", ""), ["bash", "fish", "kubectl", "zsh", NO_FILES]),
        (("completion", "z"), ["zsh", NO_FILES]),
    ],
)
def test_what_needs_no_input(offered: Offered, arguments: tuple[str, ...], found: list[str]) -> None:
    assert offered(*arguments) == found


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("describe", "-n", "baker", "httproute/"), [*ROUTES, NO_FILES]),
        (("describe", "-n", "baker", "httproute/m"), ["httproute/menu", NO_FILES]),
        (("describe", "-n", "baker", "httproute/menu", "httproute/m"), [NO_FILES]),
        (("describe", "-n", "baker", "httproute", "m"), ["menu", NO_FILES]),
        (("describe", "-n", "baker", "httproute", "menu", "t"), ["till", NO_FILES]),
        (("describe", "-n", "baker", "HTTPRoutes.gateway.networking.k8s.io", "m"), ["menu", NO_FILES]),
        (("describe", "httproute/pas"), ["httproute/pastry/cakes", NO_FILES]),
        (("describe", "-n", "baker", "gtw/infra/e"), ["gtw/infra/edge", NO_FILES]),
        (("describe", "gateway", ""), ["infra/edge", "infra/internal", NO_FILES]),
        (("describe", "gatewayclass", "p"), ["public", NO_FILES]),
        (("describe", "httpr"), ["httproute", NO_FILES]),
        (("describe", "httproutes"), ["httproutes", NO_FILES]),
        (("describe", "gtw"), ["gtw", NO_FILES]),
        (("describe", "retrypolicy."), ["retrypolicy.example.io", NO_FILES]),
        (("describe", "custom"), ["customresourcedefinition", NO_FILES]),
        (("describe", "gateway/infra/edge", "retry"), ["retrypolicy/", NO_SPACE]),
        (("blast-radius", "name"), ["namespace", NO_FILES]),
        (("get", "ro"), ["routes", NO_FILES]),
        (("get", "eff"), ["effective", NO_FILES]),
        (("get", "workl"), ["workloads", NO_FILES]),
        (("get", "httproutes,gat"), ["httproutes,gateways", "httproutes,gatewayclasses", NO_FILES]),
        (("get", "policies,routes,rou"), [NO_FILES]),
        (("get", "-n", "infra", "gateways,httproutes", ""), ["console", "edge", "internal", NO_FILES]),
        (("get", "-n", "baker", "routes", "m"), ["menu", NO_FILES]),
        (("get", "-n", "baker", "routes", "--field-selector=metadata.name=m"), ["metadata.name=menu", NO_FILES]),
        (("get", "namespaces", "-L", ""), ["team", NO_FILES]),
        (("get", "-L", ""), [NO_FILES]),
        (("get", "--field-selector", "metadata.namespace=p"), ["metadata.namespace=pastry", NO_FILES]),
        (("get", "-n", "infra", "policies", "j"), ["jwt", NO_FILES]),
        (("status", "pol"), ["policies", NO_FILES]),
        (("status", "-n", "baker", "httproute/m"), ["httproute/menu", NO_FILES]),
        (("history", "retry"), ["retrypolicy", NO_FILES]),
        (("history", "grpc"), ["grpcroute", NO_FILES]),
        (("explain", "retry"), ["retrypolicy", NO_FILES]),
        (("why-not", "retry"), ["retrypolicy/", NO_SPACE]),
        (("why-not", "-n", "baker", "retrypolicy/q"), ["retrypolicy/quick", NO_FILES]),
        (("why-not", "retrypolicy/baker/own", "httpr"), ["httproute/", NO_SPACE]),
        (
            ("why-not", "retrypolicy/baker/own", "--target-namespace", "pastry", "httproute/"),
            ["httproute/cakes", NO_FILES],
        ),
        (("why-not", "-n", "baker", "retrypolicy", "q"), ["quick", NO_FILES]),
        (("why-not", "-n", "baker", "retrypolicy", "own", "httpr"), ["httproute/", NO_SPACE]),
        (("why-not", "-n", "baker", "retrypolicy", "own", "httproute", "m"), ["menu", NO_FILES]),
        (("why-not", "-n", "baker", "retrypolicy", "own", "httproute/menu", ""), [NO_FILES]),
        (("why-not", "-n", "baker", "a/b", "c/d", "e/f", ""), [NO_FILES]),
        (("why-not", "--target-namespace", "p"), ["pastry", NO_FILES]),
        (("get", "-n", ""), ["baker", "infra", "pastry", NO_FILES]),
        (("describe", "--default-namespace=in"), ["infra", NO_FILES]),
        (("describe", "gateway/infra/edge", "--section", ""), ["admin", "http", "https", NO_FILES]),
        (("describe", "-n", "baker", "httproute", "baker", "--section="), ["rule[0]", NO_FILES]),
        (("describe", "--kind", "time"), ["timeoutpolicy", NO_FILES]),
        (("get", "--kind", "timeoutpolicy,ret"), ["timeoutpolicy,retrypolicy", NO_FILES]),
        (("describe", "--field", "per"), ["perTryTimeout", NO_FILES]),
        (("describe", "--kind", "timeoutpolicy", "--field", ""), ["request", NO_FILES]),
        (("get", "--field", "attempts,retry"), ["attempts,retryOn", NO_FILES]),
        (("describe", "--field", "validation.h"), ["validation.hostname", NO_FILES]),
        (("diff", "--delete", "gatewayc"), ["gatewayclass/", NO_SPACE]),
        (("diff", "-n", "baker", "--delete=retrypolicy/q"), ["retrypolicy/quick", NO_FILES]),
        (("diff", "--retarget", "retrypol"), ["retrypolicy/", NO_SPACE]),
        (("diff", "--retarget", "retrypolicy/baker/q"), ["retrypolicy/baker/quick", NO_FILES]),
        (
            ("diff", "--retarget", "retrypolicy/baker/quick=httproute/pas"),
            ["retrypolicy/baker/quick=httproute/pastry/cakes", NO_FILES],
        ),
        (("diff", "--retarget", "retrypolicy/baker/quick=httpr"), ["retrypolicy/baker/quick=httproute/", NO_SPACE]),
        (("get", "--assume-exists", "gatewayc"), ["gatewayclass", NO_FILES]),
    ],
)
def test_what_manifests_hold(offered: Offered, arguments: tuple[str, ...], found: list[str]) -> None:
    command, *rest = arguments
    assert offered(command, "--offline", BAKERY, *rest) == found


def test_manifests_may_be_named_elsewhere(offered: Offered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECTL_POLICY_OFFLINE", BAKERY)
    assert offered("describe", "gateway/infra/e") == ["gateway/infra/edge", NO_FILES]
    monkeypatch.delenv("KUBECTL_POLICY_OFFLINE")
    config = tmp_path / "config.yaml"
    config.write_text(f"offline: [{BAKERY}]\n", "utf-8")
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", str(config))
    assert offered("describe", "gateway/infra/i") == ["gateway/infra/internal", NO_FILES]
    config.write_text("offline: 7\n", "utf-8")
    assert offered("describe", "gateway/infra/i") == [NO_FILES]


def test_pods_and_controllers_are_types_like_others(offered: Offered, tmp_path: Path) -> None:
    objects = {"Pod": ("v1", "web-1"), "Deployment": ("apps/v1", "web"), "Job": ("batch/v1", "night")}
    manifest = "".join(
        f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\n---\n"
        for kind, (version, name) in objects.items()
    )
    (tmp_path / "pods.yaml").write_text(manifest, "utf-8")
    assert offered("get", "--offline", str(tmp_path), "p") == [
        "parameters",
        "policies",
        "policykinds",
        "pods",
        NO_FILES,
    ]
    assert offered("get", "--offline", str(tmp_path), "pods", "") == ["web-1", NO_FILES]
    assert offered("get", "--offline", str(tmp_path), "workloads", "w") == ["web", "web-1", NO_FILES]
    assert offered("describe", "--offline", str(tmp_path), "deploy") == ["deployment", NO_FILES]


def test_manifests_may_be_words(offered: Offered) -> None:
    for arguments in (("lint", BAKERY), ("lint", "-f", BAKERY), ("lint", "--offline", BAKERY)):
        assert offered(*arguments, "-n", "") == ["baker", "infra", "pastry", NO_FILES]
    assert offered("lint", BAKERY, "--assume-exists", "gatewayc") == ["gatewayclass", NO_FILES]


def test_every_rule_is_offered_with_what_it_finds() -> None:
    """`python -m tests.test_docs` writes the table of rules."""
    by_id, by_name = rule_tiers()
    assert [name for name, _ in by_id] == [rule.id for rule in RULES]
    assert by_name == [(rule.name, rule.summary) for rule in RULES]


def test_every_type_that_is_offered_is_taken(offered: Offered, command: Command) -> None:
    for name in ("get", "status"):
        *types, _ = offered(name, "--offline", BAKERY, "")
        assert len(types) > 5
        assert [item for item in types if command(name, item, "-A", "--offline", BAKERY).code] == []


HOSTILE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s, namespace: app}
spec: {rules: [{name: %s}]}
"""


@pytest.mark.parametrize(
    "name",
    ["a\tb", "a\nb", "a\x1b[2J", "`touch x`", "$(touch x)", "a;b", "a b", "a'b", 'a"b', "a\\b", "a|b", "é", ":4", "-x"],
)
def test_a_name_that_is_none_is_left_out(offered: Offered, tmp_path: Path, name: str) -> None:
    """It could be evaluated by a shell, end a line, or be taken for the directive."""
    quoted = json.dumps(name)  # a string in JSON is one in YAML
    bad = HOSTILE % (quoted, quoted)
    (tmp_path / "all.yaml").write_text(f"{bad}---\n{HOSTILE % ('plain', quoted)}", "utf-8")
    where = ("--offline", str(tmp_path), "-n", "app")
    assert offered("describe", *where, "httproute/") == ["httproute/plain", NO_FILES]
    assert offered("describe", *where, "httproute", "") == ["plain", NO_FILES]
    assert offered("describe", *where, "httproute/plain", "--section", "") == [NO_FILES]


@pytest.mark.parametrize(
    ("words", "values", "arguments"),
    [
        (["-n", "a", ""], {"namespace": ["a"]}, []),
        (["-na", ""], {"namespace": ["a"]}, []),
        (["--namespace=a", "--namespace", "b", ""], {"namespace": ["a", "b"]}, []),
        (["--namespace=", ""], {"namespace": [""]}, []),
        (["-An", "a", "x", ""], {"all_namespaces": [""], "namespace": ["a"]}, ["x"]),
        (["-A", "x", ""], {"all_namespaces": [""]}, ["x"]),
        (["routes", "--", "-n", ""], {}, ["routes", "-n"]),
        (["-", ""], {}, ["-"]),
        (["--unheard-of", "x", ""], {}, ["x"]),
        (["-n=a", "-A=false", ""], {"namespace": ["a"], "all_namespaces": ["false"]}, []),
        (["--unheard-of=1", "-Z", "x", ""], {}, ["x"]),
        (["-n", "--", ""], {"namespace": ["--"]}, []),
    ],
)
def test_words_before_the_cursor(words: list[str], values: dict[str, object], arguments: list[str]) -> None:
    line = parse_line("get", words)
    assert (line.values, line.arguments, line.option) == (values, arguments, None)


@pytest.mark.parametrize(
    ("arguments", "prefix", "option"),
    [
        (["-n", ""], "", "namespace"),
        (["-n", "-A"], "-A", "namespace"),
        (["-An", "a"], "a", "namespace"),
        (["--namespace=a"], "a", "namespace"),
        (["--field=a=b"], "a=b", "field"),
        (["--"], "--", ""),
        (["--unheard-of=a"], "--unheard-of=a", ""),
        (["--", "--namespace=a"], "--namespace=a", ""),
        (["-A", "a"], "a", ""),
    ],
)
def test_the_word_under_the_cursor(arguments: list[str], prefix: str, option: str) -> None:
    line = parse_line("get", arguments)
    assert (line.prefix, line.option.parameter if line.option else "") == (prefix, option)
