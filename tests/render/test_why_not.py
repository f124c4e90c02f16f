"""Reasons why a policy has no effect, and edits that help, as text and documents, with nothing harmful in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
import yaml

from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.output.encoding import as_field, as_item, as_yaml
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.why_not import why_not_text
from kubectl_policy.render.wording.headlines import why_not_headline
from tests import build
from tests.questions.why_not.causes import ON_GATEWAY, ON_ROUTE, POLICY, ROUTE, around, every_cause, profiled, usual
from tests.render.output.test_documents import HOSTILE
from tests.render.schema import VALIDATOR
from tests.render.shown import as_json, document_of
from tests.render.worlds import defaults, overrides

if TYPE_CHECKING:
    from kubectl_policy.questions.why_not.answer import WhyNot
    from tests.questions.why_not.causes import Cause

CAUSES: Final = every_cause()
WIDE: Final = View(400)
BY_NAME: Final = {cause.name: cause for cause in CAUSES}


def answer_to(name: str) -> WhyNot:
    """The answer in the world of a cause."""
    cause = BY_NAME[name]
    return why_not(cause.analysis, cause.policy, cause.target)


def text(answer: WhyNot, view: View | None = None) -> str:
    shown = view or View()
    return to_text(why_not_text(answer, shown), shown.width)


def test_the_change_stands_below_its_reason() -> None:
    assert text(answer_to("another target")) == (
        "ColorPolicy default/p has no effect on HTTPRoute default/r: its target is HTTPRoute default/q\n"
        "  (test.yaml:1).\n"
        "\n"
        "Change that would make it effective (checked):\n"
        "  ColorPolicy default/p (test.yaml:1)\n"
        "  spec.targetRefs:\n"
        "  + - {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}\n"
        "  Changes nothing else.\n"
    )


def test_what_is_replaced_and_what_is_lost_is_shown() -> None:
    assert text(answer_to("a single reference to another target")).endswith(
        "  spec.targetRef:\n  - name: q\n  + name: r\n"
        "  Also changes 1 setting on HTTPRoute default/q.\n"
        "  It would then have no effect any more on HTTPRoute default/q.\n"
    )


def test_many_losses_are_counted() -> None:
    routes = [build.route(f"q{number}", parents=[build.parent("h")], rules=[{}]) for number in range(4)]
    everywhere = build.policy("p", targetRef=build.target("h"), color="red")
    answer = why_not(usual(build.gateway("h"), *routes, everywhere), POLICY, build.node("Gateway", "g"))
    assert text(answer, WIDE).endswith(
        "It would then have no effect any more on Gateway default/h, HTTPRoute default/q0, HTTPRoute default/q1 and 2 "
        "more.\n"
    )


def test_a_new_object_is_written_out() -> None:
    assert text(answer_to("a target in another namespace")).partition("(checked):\n")[2] == (
        "  a new ReferenceGrant default/r-for-far\n"
        "  + apiVersion: gateway.networking.k8s.io/v1beta1\n"
        "  + kind: ReferenceGrant\n"
        "  + metadata:\n"
        "  +   name: r-for-far\n"
        "  +   namespace: default\n"
        "  + spec:\n"
        "  +   from:\n"
        "  +   - group: example.com\n"
        "  +     kind: ColorPolicy\n"
        "  +     namespace: far\n"
        "  +   to:\n"
        "  +   - group: gateway.networking.k8s.io\n"
        "  +     kind: HTTPRoute\n"
        "  +     name: r\n"
        "  Changes nothing else.\n"
    )


def test_a_deletion_names_what_goes() -> None:
    answer = answer_to("a conflict")
    assert "(checked):\n  delete LimitPolicy default/o (test.yaml:1)\n" in text(answer)
    assert [edit.manifest for edit in answer.edits][:1] == [None]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "a target in a namespace that cannot be named",
            "a ColorPolicy can only name its own namespace, far, so it would have to be moved to namespace default.",
        ),
        ("a need that is not there", "what the policy needs has to be there first."),
        ("nothing that it sets", "the policy has to declare what it is to set."),
        ("how it attaches", "how the policy attaches is not computed, so no change can be checked."),
        ("two listeners that cannot be told apart", "no change to one object would let it reach HTTPRoute default/r."),
        ("a rule without backends", "the one that was tried gives it none."),
    ],
)
def test_where_no_single_change_would_do_it_the_answer_says_so(name: str, expected: str) -> None:
    assert f"\nNo single change would do it: {expected}\n" in text(answer_to(name), WIDE)


def test_further_reasons_are_told_and_cut_at_a_terminal_alone() -> None:
    """Each route that could lead to a Service has its own."""
    routes = [build.route(f"r{number:02}", parents=[build.parent("gone")]) for number in range(12)]
    analysis = around(build.gateway(), *routes, build.policy("p", ON_GATEWAY, color="red"))
    answer = why_not(analysis, POLICY, build.node("Service", "s", group=""))
    assert text(answer, WIDE).count("does not name Gateway default/g as a parent") == 12
    shown = text(answer, View(terminal=True))
    assert "and 3 more reasons; -o yaml shows all 11" in shown
    assert "kubectl policy describe colorpolicy/p -n default" in shown
    assert "kubectl policy describe service/s -n default" in shown


def test_an_effect_is_said_with_its_paths() -> None:
    """On all of them there is nothing more to say; on some, why not on the others."""
    whole = why_not(usual(defaults("p", ON_ROUTE, a=1)), POLICY, ROUTE)
    assert text(whole) == "ColorPolicy default/p has an effect on HTTPRoute default/r.\n"
    listeners = (build.listener(), build.listener("other", port=81))
    analysis = around(
        build.gateway("g", *listeners),
        build.route(),
        overrides("o", build.target("g", section="other"), a=1),
        defaults("p", ON_ROUTE, a=2),
    )
    shown = text(why_not(analysis, POLICY, ROUTE), View(200))
    assert shown.startswith(
        "ColorPolicy default/p has an effect on HTTPRoute default/r, on 1 of its 2 paths.\n\nPaths\n"
    )
    assert shown.endswith(
        "No effect\n  listener other only: ColorPolicy default/o → listener other of Gateway default/g "
        "overrides all of it from above (test.yaml:1)\n"
    )
    section = why_not(analysis, POLICY, build.node("HTTPRoute", "r", "rule[0]"))
    assert "--section 'rule[0]'" in text(section, View(terminal=True))


def test_what_is_unknown_is_not_denied() -> None:
    answer = why_not(
        around(build.gateway(), build.route(), defaults("p", ON_ROUTE, a=1), profile=profiled(attachment="none")),
        POLICY,
        ROUTE,
    )
    assert why_not_headline(answer) == (
        "Whether ColorPolicy default/p has an effect on HTTPRoute default/r is unknown: how ColorPolicy attaches "
        "without a target reference is not computed (test.yaml:1)."
    )


def test_a_long_value_is_written_in_several_lines() -> None:
    long = {f"setting{number}": "a value of some length" for number in range(5)}
    answer = why_not(
        usual(
            build.policy("o", ON_ROUTE, age=2, defaults=dict.fromkeys(long, "b")),
            build.policy("p", ON_GATEWAY, age=1, defaults=long),
        ),
        POLICY,
        ROUTE,
    )
    shown = text(answer)
    assert "  - defaults:\n  -   setting0: a value of some length\n" in shown
    assert "  + overrides:\n  +   setting0: a value of some length\n" in shown
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.unmeasured
@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_every_answer_is_as_the_schema_says(cause: Cause) -> None:
    document = document_of(why_not(cause.analysis, cause.policy, cause.target))
    VALIDATOR.validate(document)
    assert json.loads(as_json(document)) == document
    assert yaml.load(as_yaml(document, unicode=True), yaml.CSafeLoader) == document
    assert document["hasEffect"] is False
    reasons = cast("list[dict[str, Any]]", document["reasons"])
    assert reasons[0]["rule"] == cause.rule


def test_an_effect_is_as_the_schema_says() -> None:
    document = document_of(why_not(usual(defaults("p", ON_ROUTE, a=1)), POLICY, ROUTE))
    VALIDATOR.validate(document)
    assert (document["hasEffect"], document["edit"], document["effectiveOn"]) == (True, None, [1])


def test_hostile_names_are_harmless() -> None:
    """Nothing that a terminal would obey is printed, and what is printed as YAML is the name itself."""
    analysis = around(
        build.gateway(),
        build.route(HOSTILE),
        build.route("q"),
        build.policy("p", build.target("q", "HTTPRoute"), color="red"),
    )
    answer = why_not(analysis, POLICY, build.node("HTTPRoute", HOSTILE))
    shown = text(answer)
    assert all(map(str.isprintable, shown.split("\n")))
    added = [line.removeprefix("  + ") for line in shown.splitlines() if line.startswith("  + ")]
    assert yaml.safe_load("\n".join(added))[0]["name"] == HOSTILE
    VALIDATOR.validate(document_of(answer))


@pytest.mark.parametrize("value", ["a: b, [c] {d}", "- x", "", None, True, "*a", [1, {"a": []}], {"b": "#c"}, "a\nb"])
def test_flow_style_means_the_same_outside_of_its_brackets(value: Any) -> None:  # noqa: ANN401 (any JSON)
    """A field is read as a field, an item as an item."""
    assert yaml.safe_load(as_field("key", value, unicode=True)) == {"key": value}
    assert yaml.safe_load(as_item(value, unicode=True)) == [value]
