"""Where something is written: a file and a line, and no words at all for what is in a cluster."""

from __future__ import annotations

from kubectl_policy.model import Origin
from kubectl_policy.render.wording.names import at_origin


def test_what_is_in_no_file_has_no_place() -> None:
    """The name of a context says nothing that the reader did not ask for."""
    assert at_origin(None, " ({})") == ""
    assert at_origin(Origin("production"), " ({})") == ""


def test_a_file_and_a_line() -> None:
    """As compilers print them."""
    assert at_origin(Origin("a.yaml", 3)) == "a.yaml:3"
    assert at_origin(Origin("a.yaml", 3), " ({})") == " (a.yaml:3)"
