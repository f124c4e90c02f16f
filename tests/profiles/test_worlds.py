"""Every kind of the implementations that have a fixture world occurs in it, so that an answer about it is asserted."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.profiles.load import built_in_profiles
from tests.implementations import manifests

# The tests of each world assert what became of every policy in it.
WORLDS: Final = {
    "gateway.solo.io": "gloo",
    "policy.linkerd.io": "linkerd",
    "networking.gke.io": "gke",
    "application-networking.k8s.aws": "aws",
    "alb.networking.azure.io": "azure",
    "configuration.konghq.com": "kong",
    "kuma.io": "kuma",
}


@pytest.mark.parametrize(("group", "world"), WORLDS.items())
def test_every_kind_occurs_in_its_world(group: str, world: str) -> None:
    """None is known by its profile alone."""
    found = {resource.ref.group_kind for resource in manifests(world).resources}
    assert set(built_in_profiles(group)) - found == set()
