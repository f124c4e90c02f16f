"""Hostnames that are looked up among many: the same as when each of them is compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.topology.gateway.hostnames import Hostnames, have_common_hostname, intersection

_LABELS = st.sampled_from(["a", "b", "A", "*", "${X}"])
_NAMES = st.one_of(st.just(""), st.lists(_LABELS, min_size=1, max_size=4).map(".".join))


@given(st.lists(_NAMES, max_size=9), _NAMES)
def test_a_lookup_is_a_comparison_with_each(names: list[str], name: str) -> None:
    """Also of names with wildcards out of their place, and with placeholders."""
    among, verdicts = Hostnames(names), {have_common_hostname(hostname, name) for hostname in names}
    assert among.have_common_hostname(name) is (True if True in verdicts else None if None in verdicts else False)
    common = [(hostname, intersection(hostname, name)) for hostname in names]
    assert among.intersections(name) == [(hostname, hosts) for hostname, hosts in common if hosts is not None]


def test_few_of_many_are_compared() -> None:
    """Those that may fit, whatever the case of their letters."""
    names = [f"h{number}.example.com" for number in range(1_000)]
    among = Hostnames([*names, "*.example.com", "*.h7.example.com", "${X}.example.com"])
    assert among.intersections("H7.example.com") == [
        ("h7.example.com", "H7.example.com"),
        ("*.example.com", "H7.example.com"),
        ("${X}.example.com", "H7.example.com"),
    ]
    assert [hostname for hostname, _ in among.intersections("*.h7.example.com")][:2] == [
        "*.example.com",
        "*.h7.example.com",
    ]
    assert len(among.intersections("*.com")) == 1_003
