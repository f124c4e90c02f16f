"""How first sentences say that something could not be seen."""

import pytest

from kubectl_policy.model import Gap, Origin, Permission
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.render.wording.blind_spots import remedy_phrase, unread_hedge
from tests import build

FILE = BlindSpot(what="objects of any kind", reason="x", origin=Origin("a.yaml", 1))
OBJECT = BlindSpot(what="Gateway default/g", reason="x")
PATCHED = BlindSpot(what="HTTPRoute default/r", reason="x", origin=Origin("a.yaml", 9), is_there=True)


def gap(kind: str, namespace: str = "", *, forbidden: bool = True, verb: str = "list") -> Gap:
    """What a cluster did not give out."""
    needs = Permission(verb, f"{kind.lower()}s.io", namespace) if forbidden else None
    return Gap(kind, namespace, "x", group="io", needs=needs)


def hidden(*gaps: Gap) -> BlindSpot:
    """What could not be seen for that."""
    return BlindSpot(what="x", reason="x", remedy="ask again", gaps=gaps)


POLICY = BlindSpot(what="ColorPolicy default/p", reason="x", policies=(build.ref("ColorPolicy", "p"),))


@pytest.mark.parametrize(
    ("unseen", "said"),
    [
        ([], ""),
        ([FILE, FILE], ", as far as could be read: 1 file may hold more"),
        ([FILE, OBJECT], ", as far as could be read: 1 object is not in the input and 1 file may hold more"),
        ([PATCHED], ", as far as could be read: 1 object may be different"),
        ([FILE, PATCHED], ", as far as could be read: 1 file may hold more and 1 object may be different"),
        ([POLICY], "; how 1 policy attaches is not computed"),
        ([hidden(gap("Fee", "a"), gap("Fee", "b"))], ", as far as could be read: Fees are hidden from you"),
        (
            [hidden(gap("Fee")), hidden(gap("Foe")), hidden(gap("Fie", forbidden=False))],
            ", as far as could be read: Fees and Foes are hidden from you and Fies could not be read",
        ),
        ([hidden(*map(gap, "ABCD"))], ", as far as could be read: objects of 4 kinds are hidden from you"),
    ],
)
def test_what_could_not_be_seen_is_counted(unseen: list[BlindSpot], said: str) -> None:
    """Files, objects that are not there, and those that may not be as they were read."""
    assert unread_hedge(unseen) == said


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (OBJECT, "To do: add the manifest that holds it"),
        (hidden(gap("Fee", forbidden=False)), "To do: ask again"),
        (hidden(gap("Fee", "a")), "Needs: list fees.io in namespace a"),
        (hidden(gap("Fee", "a"), gap("Fee", "b")), "Needs: list fees.io in namespaces a and b"),
        (hidden(gap("Fee", "a"), gap("Fee")), "Needs: list fees.io in all namespaces"),
        (
            hidden(gap("Fee", "a"), gap("Foe", verb="get")),
            "Needs: list fees.io in namespace a and get foes.io in all namespaces",
        ),
    ],
)
def test_what_to_do_is_a_permission_where_that_is_missing(thing: BlindSpot, said: str) -> None:
    """For all namespaces of a kind at once."""
    assert remedy_phrase(thing) == said
