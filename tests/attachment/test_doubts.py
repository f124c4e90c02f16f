"""References that say more than is understood: the policy is attached, and answers say that they may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.policy_rows import policy_row
from kubectl_policy.questions.why_not.answer import why_not
from tests.build import gateway, gateway_class, node, policy, route, service, snapshot, target
from tests.render.shown import document_of, headline, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json

PORT: Final = "what spec.targetRefs[0].port means is not known"


def world(*targets: dict[str, Json]) -> Analysis:
    """A Gateway with a route, and a policy with these targets."""
    everything = (gateway_class(), gateway(), route(), service(), policy("p", *targets, color="red"))
    return analyze(snapshot(*everything, complete=True))


def attached(analysis: Analysis) -> tuple[Attachment, ...]:
    """The attachments of the policy."""
    return analysis.attachments[analysis.policies[0].ref]


class TestWhatIsNotUnderstood:
    """Members that nothing is known of, and what a kind cannot have."""

    def test_a_port(self) -> None:
        """It may be for that port alone."""
        (found,) = attached(world(target("g", port=80)))
        assert (found.state, found.doubtful, found.message) == ("attached", True, PORT)

    def test_several_members(self) -> None:
        """Each is named."""
        (found,) = attached(world(target("g", port=80, mode="x")))
        assert found.message == f"what spec.targetRefs[0].mode means is not known; {PORT}"

    def test_a_namespace_where_there_is_none(self) -> None:
        """Of a kind that is known to be cluster-scoped."""
        (found,) = attached(world(target("public", "GatewayClass", namespace="infra")))
        assert (found.state, found.doubtful) == ("attached", True)
        assert found.message == "spec.targetRefs[0].namespace is infra, and a GatewayClass has no namespace"

    @pytest.mark.parametrize("member", ["namespace", "sectionName"])
    def test_what_is_understood(self, member: str) -> None:
        """Members that every reference may have, and any that is null."""
        said: dict[str, Json] = {member: {"namespace": "default", "sectionName": "http"}[member], "port": None}
        (found,) = attached(world({**target("g"), **said}))
        assert (found.state, found.doubtful, found.message) == ("attached", False, "")

    def test_by_labels(self) -> None:
        """Each object that it selects."""
        selecting: dict[str, Json] = {"group": GATEWAY_API, "kind": "Gateway", "selector": {}, "port": 80}
        (found,) = attached(world(selecting))
        assert (found.state, found.message) == ("attached", PORT)

    def test_one_that_fails_has_its_own_reason(self) -> None:
        """What it says besides does not matter then."""
        (found,) = attached(world(target("ghost", port=80)))
        assert (found.state, found.doubtful) == ("target missing", False)


class TestAnswers:
    """Whoever reads them is told."""

    def test_describe_the_policy(self) -> None:
        """At its target, and in the first sentence."""
        analysis = world(target("g", port=80))
        answer = describe_policy(analysis, analysis.policies[0].ref)
        text = " ".join(shown(answer, "tree").split())
        assert f"Gateway default/g attached: {PORT}" in text
        assert f"all that spec.targetRefs[0] of ColorPolicy default/p says: {PORT}." in text
        assert "as far as could be read" in headline(answer)
        document: Any = document_of(answer)
        assert document["complete"] is False
        assert document["targets"][0]["message"] == PORT

    def test_describe_what_it_affects(self) -> None:
        """The setting is there, and so is the doubt."""
        answer = describe(world(target("g", port=80)), node("HTTPRoute", "r"))
        assert answer.policies
        assert [thing.reason for thing in answer.unseen] == [PORT]

    def test_get(self) -> None:
        """The counts are marked."""
        analysis = world(target("g", port=80))
        assert [thing.reason for thing in policy_row(analysis, analysis.policies[0]).unseen] == [PORT]

    def test_why_not(self) -> None:
        """Also where it has no effect for another reason."""
        analysis = world(target("g", port=80))
        other = policy("q", target("r", "HTTPRoute"), color="blue")
        analysis = analyze(snapshot(*analysis.snapshot.resources, other, complete=True))
        found = next(each.ref for each in analysis.policies if each.ref.name == "p")
        assert PORT in {thing.reason for thing in why_not(analysis, found, node("HTTPRoute", "r")).unseen}

    def test_blast_radius(self) -> None:
        """It fails closed."""
        analysis = world(target("g", port=80))
        assert PORT in {thing.reason for thing in blast_radius(analysis, analysis.policies[0].ref).difference.unseen}

    def test_several_targets_with_the_same_doubt(self) -> None:
        """Each reference is named once."""
        analysis = world(target("g", port=80), target("r", "HTTPRoute", port=80))
        assert len(describe_policy(analysis, analysis.policies[0].ref).unseen) == 2
