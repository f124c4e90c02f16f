"""`-o go-template=`: templates, and what kubectl v1.34 prints for them (`kubectl label --local -o go-template=...`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.render.output.go_templates import GoTemplate
from kubectl_policy.render.output.text import View

if TYPE_CHECKING:
    from kubectl_policy.model import Json

DOCUMENT: Json = {
    "kind": "Service",
    "labels": {"a.b/c": "v", "z": "y"},
    "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}, {"port": 65535}],
    "open": True,
    "none": None,
    "hosts": [],
}


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{.kind}}", "Service"),
        ('{{.kind}}{{"\\n"}}', "Service\n"),
        ("{{range .ports}}{{.port}} {{end}}", "80 443 65535 "),
        ("{{range $i, $p := .ports}}{{$i}}={{$p.name}};{{end}}", "0=http;1=https;2=<no value>;"),
        ("{{range $name, $value := .labels}}{{$name}}:{{$value}} {{end}}", "a.b/c:v z:y "),
        ("{{range .hosts}}x{{else}}none{{end}}", "none"),
        ('{{range .ports}}{{if eq .name "https"}}{{continue}}{{end}}{{.port}} {{end}}', "80 65535 "),
        ('{{range .ports}}{{if eq .name "https"}}{{break}}{{end}}{{.port}}{{end}}', "80"),
        ("{{- range .ports -}} {{.port}} {{- end -}}", "8044365535"),
        ('{{index .labels "a.b/c"}}', "v"),
        ("{{(index .ports 1).name}}", "https"),
        ("{{len .ports}}{{ .ports | len }}", "33"),
        ("{{.nope}}{{.nope.deeper}}{{.none}}", "<no value>" * 3),
        ("{{with .labels}}{{.z}}{{end}}{{with .nope}}x{{else}}-{{end}}", "y-"),
        ("{{.labels}}", "map[a.b/c:v z:y]"),
        ("{{.ports}}", "[map[name:http port:80] map[name:https port:443] map[port:65535]]"),
        ('{{printf "%-10s|%v|%q" .kind .open .kind}}', 'Service   |true|"Service"'),
        ('{{define "t"}}[{{.}}]{{end}}{{template "t" .kind}}', "[Service]"),
        ("{{if and .open (gt (len .ports) 2)}}many{{end}}{{/* silent */}}", "many"),
        ('{{exists . "labels" "z"}} {{exists . "label" "z"}} {{exists . "ports" 2}}', "true false true"),
        ('{{exists . "ports" 3}} {{exists .ports "0"}} {{exists .kind 0}}', "false false false"),
        ('{{base64decode "aGVsbG8="}}', "hello"),
        ('{{eq .kind "Pod" "Service"}} {{eq (index .ports 0).port 80}}', "true true"),
        ('{{eq .nope "x"}} {{ne .nope "x"}} {{eq .nope .none}} {{ne .kind "Pod"}}', "false true true true"),
    ],
)
def test_templates_are_filled_in_as_kubectl_does(template: str, shown: str) -> None:
    template_ = GoTemplate(template)
    assert template_.shown(DOCUMENT, View()) == shown
    assert template_.lacking(DOCUMENT, shown) == []


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{range", "1:1: unclosed action"),
        ("{{.kind}}{{end}}", "1:10: unexpected end"),
        ("{{upper .kind}}", "1:3: function 'upper' not defined"),
        ("{{index .ports 9}}", "1:3: executing \"output\": function 'index' failed: index out of range"),
        ("{{eq .kind 1}}", "function 'eq' failed: incompatible types for comparison"),
        ("{{eq .ports .ports}}", "function 'eq' failed: non-comparable type"),
        ("{{eq .kind}}", "function 'eq' failed: missing argument for comparison"),
        ('{{base64decode "?"}}', "function 'base64decode' failed: \"?\" is not base64"),
        # A method of Python's objects is no field.
        ("{{.kind.upper}}", "1:3: executing \"output\": method 'upper' is not allowed"),
        ("{{.ports.name}}", "attribute 'name' is not allowed"),
        ('{{define "t"}}{{template "t"}}{{end}}{{template "t"}}', "template-depth budget exceeded"),
    ],
)
def test_what_kubectl_refuses_is_refused(template: str, problem: str) -> None:
    with pytest.raises(UsageError) as error:
        GoTemplate(template).shown(DOCUMENT, View())
    assert error.value.message.startswith("-o go-template: ")
    assert problem in error.value.message
    assert error.value.hint.startswith("for example: get routes -o go-template='{{range .items}}")


def test_no_value_controls_a_terminal() -> None:
    assert GoTemplate("{{.a}}").shown({"a": "x\ty\n\x1b[2Jz"}, View()) == "x\ty\n\\x1b[2Jz"
