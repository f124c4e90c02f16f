"""Where findings are for programs: paths, URIs, and the part of a line that a fix replaces."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.finding import Fix
from kubectl_policy.lint.report import Checkout
from kubectl_policy.model import Origin
from kubectl_policy.render.lint.locations import path_of, path_or_name, region_of, replaced_region, uri_of
from tests import build
from tests.render.lint.reports import CLEAN, LIVE, MISSING, UNREADABLE

LINE = Origin("shop.yaml", 14)


@pytest.mark.parametrize(
    ("source", "root", "folder", "path", "uri"),
    [
        ("shop.yaml", "", "", "shop.yaml", "shop.yaml"),
        ("./a//b/../shop.yaml", "", "", "a/shop.yaml", "a/shop.yaml"),
        ("shop.yaml", "/repo", "/repo", "shop.yaml", "shop.yaml"),
        ("shop.yaml", "/repo/", "/repo/deploy", "deploy/shop.yaml", "deploy/shop.yaml"),
        ("../shop.yaml", "/repo", "/repo/deploy", "shop.yaml", "shop.yaml"),
        ("/repo/shop.yaml", "/repo", "/repo/deploy", "shop.yaml", "shop.yaml"),
        ("/tmp/a b.yaml", "/repo", "/repo", "/tmp/a b.yaml", "file:///tmp/a%20b.yaml"),  # noqa: S108 (a name)
        ("a b/100%/größe:1.yaml", "", "", "a b/100%/größe:1.yaml", "a%20b/100%25/gr%C3%B6%C3%9Fe%3A1.yaml"),
        ("a\udc80.yaml", "", "", "a\udc80.yaml", "a%ED%B2%80.yaml"),
    ],
)
def test_a_file_is_known_from_the_root_on(source: str, root: str, folder: str, path: str, uri: str) -> None:
    report, origin = replace(CLEAN, checkout=Checkout(root=root, folder=folder)), Origin(source, 1)
    assert path_of(origin, report) == path
    assert uri_of(origin, MISSING.subject, report) == uri


def test_what_is_in_no_file_has_a_place_that_no_file_has() -> None:
    stdin = Origin("<stdin>", 7)
    assert path_of(LIVE.origin, CLEAN) == path_of(None, CLEAN) == path_of(stdin, CLEAN) == ""
    assert uri_of(stdin, LIVE.subject, CLEAN) == "%3Cstdin%3E/infra/Gateway/public"
    assert path_or_name(LIVE, CLEAN) == uri_of(LIVE.origin, LIVE.subject, CLEAN) == "kind-dev/infra/Gateway/public"
    arn = Origin("arn:aws:eks:eu:1:cluster/prod")
    assert path_or_name(replace(LIVE, origin=arn), CLEAN) == "arn:aws:eks:eu:1:cluster_prod/infra/Gateway/public"
    assert uri_of(arn, LIVE.subject, CLEAN) == "arn%3Aaws%3Aeks%3Aeu%3A1%3Acluster_prod/infra/Gateway/public"
    cluster_scoped = build.ref("GatewayClass", "..")
    assert path_or_name(replace(LIVE, subject=cluster_scoped), CLEAN) == "kind-dev/GatewayClass"
    assert path_or_name(replace(UNREADABLE, origin=None), CLEAN) == "cluster"


def test_a_region_is_within_one_line() -> None:
    findings = region_of(LINE, replace(CLEAN, checkout=Checkout(texts={LINE: "  - name: a \n"})))
    assert findings == {"startLine": 14, "startColumn": 3, "endLine": 14, "endColumn": 12}
    for report in (CLEAN, replace(CLEAN, checkout=Checkout(texts={LINE: "   "}))):
        assert region_of(LINE, report) == {"startLine": 14, "startColumn": 1, "endLine": 14, "endColumn": 2}
    assert region_of(None, CLEAN)["startLine"] == 1


@pytest.mark.parametrize(
    ("text", "field", "value", "wanted"),
    [
        ("      name: checkot", "spec.targetRefs[0].name", "checkout", "checkot"),
        ("    - name: checkot  # which", "spec.targetRefs[0].name", "checkout", "checkot"),
        ("  name:   'checkot'", "name", "checkout", "checkot"),
        ('  "name" : "check ot",', "spec.name", "checkout", "check ot"),
        ("targetRefs: [{kind: Service, name: checkot}]", "spec.targetRefs[0].name", "checkout", "checkot"),
        ("{kind: Service, name: checkot, group: ''}", "spec.targetRefs[0].name", "checkout", "checkot"),
        ('  name: ""', "spec.name", "checkout", ""),
        ("  sectionName: http", "spec.name", "checkout", None),
        ("metadata: {name: a}, ref: {name: checkot}", "spec.ref.name", "checkout", None),
        ("  name: a b", "spec.name", "checkout", None),
        ("  name: &anchor checkot", "spec.name", "checkout", None),
        ("  name: >-", "spec.name", "checkout", None),
        (r'  name: "a\u0062"', "spec.name", "checkout", None),
        ("  name: checkot", "spec.targetRefs[0]", "checkout", None),
        ("  name: checkot", "spec.name", "", None),
        ("  name: checkot", "spec.name", "a: b", None),
        ("  name: checkot", "spec.name", "on", None),
        ("  name: checkot", "spec.name", "123", None),
        ("", "spec.name", "checkout", None),
    ],
)
def test_a_value_is_replaced_where_it_stands_once(text: str, field: str, value: str, wanted: str | None) -> None:
    """On one line, as it is, by what means the same text there."""
    finding = replace(MISSING, field=field, fix=Fix(words="w", value=value))
    findings = replaced_region(finding, replace(CLEAN, checkout=Checkout(texts={LINE: text})))
    assert (findings and text[findings["startColumn"] - 1 : findings["endColumn"] - 1]) == wanted


def test_nothing_is_replaced_elsewhere() -> None:
    report = replace(CLEAN, checkout=Checkout(texts={LINE: "name: checkot"}))
    assert replaced_region(MISSING, report)
    for finding in (replace(MISSING, fix=None), replace(MISSING, origin=None), replace(MISSING, field="")):
        assert replaced_region(finding, report) is None
