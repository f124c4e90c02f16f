"""How first sentences say that something could not be seen."""

import pytest

from kubectl_policy.model import Origin
from kubectl_policy.questions.unseen.things import Unseen
from kubectl_policy.render.words.unseen import as_far_as
from tests import build

FILE = Unseen(what="objects of any kind", reason="x", origin=Origin("a.yaml", 1))
OBJECT = Unseen(what="Gateway default/g", reason="x")
PATCHED = Unseen(what="HTTPRoute default/r", reason="x", origin=Origin("a.yaml", 9), is_there=True)
POLICY = Unseen(what="ColorPolicy default/p", reason="x", policies=(build.ref("ColorPolicy", "p"),))


@pytest.mark.parametrize(
    ("unseen", "said"),
    [
        ([], ""),
        ([FILE, FILE], ", as far as could be read: 1 file may hold more"),
        ([FILE, OBJECT], ", as far as could be read: 1 object is not in the input and 1 file may hold more"),
        ([PATCHED], ", as far as could be read: 1 object may be different"),
        ([FILE, PATCHED], ", as far as could be read: 1 file may hold more and 1 object may be different"),
        ([POLICY], "; how 1 policy attaches is not computed"),
    ],
)
def test_what_could_not_be_seen_is_counted(unseen: list[Unseen], said: str) -> None:
    """Files, objects that are not there, and those that may not be as they were read."""
    assert as_far_as(unseen) == said
