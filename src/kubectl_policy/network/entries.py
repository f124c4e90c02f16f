"""Read entries of lists, selectors and ranges of addresses of network policies; placeholders may stand for any."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from kubectl_policy.lazy import pattern
from kubectl_policy.model import FieldPath
from kubectl_policy.model.fields import Json, value_at
from kubectl_policy.model.unknown import is_unfilled

if TYPE_CHECKING:
    from collections.abc import Iterator

# The content of an entry; a text for one that is still to be filled in.
Entry: TypeAlias = "Mapping[str, Json] | str"
_LEADING_ZEROS: Final = pattern(r"(?<![0-9])0+(?=[0-9])")
# The prefix of IPv4 addresses that are written as addresses of IPv6.
_MAPPED: Final = 96
# No requirement can be read, so that it is not known what the selector selects.
_OPEN_SELECTOR: Final[Mapping[str, Json]] = {"matchExpressions": [{"key": "", "operator": "<unknown>"}]}


def entries_at(holder: Json, field: FieldPath, name: str) -> Iterator[tuple[FieldPath, Entry]]:
    """Yield the entries of the list in a field of `holder`, which is at `field` itself, with their own fields.

    What is neither a mapping nor a placeholder is left out, but for null: to an API server, that is an empty entry.
    """
    path = FieldPath((*field.steps, *FieldPath.parse(name).steps))
    entries = value_at(holder, name)
    if is_open(entries):
        yield path, entries
    for position, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
        if isinstance(entry, Mapping) or is_open(entry):
            yield path / position, entry
        elif entry is None:
            yield path / position, {}


def selector_at(holder: Json, name: str) -> Mapping[str, Json] | None:
    """Return the selector in a field; None without one, and one that is undecided for a placeholder."""
    selector = value_at(holder, name)
    if is_open(selector):
        return _OPEN_SELECTOR
    return selector if isinstance(selector, Mapping) else None


def parse_cidr(text: str) -> IPv4Network | IPv6Network | None:
    """Parse a range of addresses as an API server does; None for any other text.

    Octets may have leading zeros, and bits may follow a prefix. A range of IPv4 addresses that are written as addresses
    of IPv6 is one of IPv4.
    """
    address, slash, length = text.partition("/")
    if not slash or not (length.isascii() and length.isdigit()) or "%" in address:
        return None
    try:
        network = ip_network(f"{_LEADING_ZEROS.sub('', address) if '.' in address else address}/{length}", strict=False)
    except ValueError:
        return None
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    is_mapped = mapped and network.prefixlen >= _MAPPED
    return IPv4Network((mapped, network.prefixlen - _MAPPED)) if is_mapped else network


def is_open(value: Json) -> TypeGuard[str]:
    """Whether a value is a text that is still to be filled in."""
    return isinstance(value, str) and is_unfilled(value)
