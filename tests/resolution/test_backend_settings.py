"""Settings that backends make themselves, as profiles name them: an XBackend says how connections to it are made."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import NodeRef, Snapshot, analyze
from kubectl_policy.comparison import compare
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphOptions
from kubectl_policy.render.graph.wording import outcome_lines
from tests import build

X_API: Final = "gateway.networking.x-k8s.io"
X_REF: Final[dict[str, Json]] = {"group": X_API, "kind": "XBackend", "name": "ext", "port": 443}


def with_x_backend(**spec: Json) -> Snapshot:
    """A route to an XBackend, which says how connections to it are made."""
    fields: dict[str, Json] = {"port": {"number": 443}, "protocol": "HTTP2", **spec}
    backend = build.resource("XBackend", "ext", fields, group=X_API)
    route = build.route("r", rules=[{"backendRefs": [X_REF]}])
    return build.snapshot(build.gateway_class(), build.gateway("g"), route, backend, complete=True)


class TestXBackend:
    """Of the experimental channel: `tls` and `protocol` are settings of connections to the backend."""

    TLS: Final[Json] = {"mode": "ServerOnly", "validation": {"hostname": "api.example"}}

    @pytest.mark.parametrize("subject", [build.node("HTTPRoute", "r"), build.node("XBackend", "ext", group=X_API)])
    def test_described(self, subject: NodeRef) -> None:
        answer = describe(analyze(with_x_backend(tls=self.TLS)), subject)
        (group,) = answer.in_force
        assert group.summary == ("TLS to api.example", "HTTP2")
        assert [(setting.field, setting.value, setting.security) for setting in group.settings] == [
            ("tls.mode", "ServerOnly", True),
            ("tls.validation.hostname", "api.example", True),
            ("protocol", "HTTP2", False),
        ]
        assert {str(setting.declared_in) for setting in group.settings} == {
            "spec.tls.mode",
            "spec.tls.validation.hostname",
            "spec.protocol",
        }
        assert (str(group.settings[0].source.object), answer.policies) == ("XBackend default/ext", ())

    def test_compared(self) -> None:
        """Without TLS, security is lost."""
        difference = diff(compare(with_x_backend(tls=self.TLS), with_x_backend()))
        (effect,) = difference.effects
        assert [(field.field, field.security) for field in effect.fields] == [
            ("tls.mode", True),
            ("tls.validation.hostname", True),
        ]
        assert effect.harmful

    def test_drawn(self) -> None:
        picture = graph(analyze(with_x_backend()), GraphOptions(effective=True))
        lines = {line for node in picture.nodes for line in outcome_lines(node)}
        assert lines == {"HTTP2 (the XBackend itself)"}
