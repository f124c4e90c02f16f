"""The formats of text that an API server checks, as far as the standard library can tell them."""

from __future__ import annotations

import re
from datetime import date
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.model import Json

# supportedVersionedFormats in apiextensions-apiserver, pkg/apiserver/validation.
_OF_TEXT: Final = frozenset(
    (
        *("bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5"),
        *("isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date"),
        *("duration", "datetime", "k8sshortname", "k8slongname"),
    )
)
_OF_NUMBERS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}

_DATE: Final = r"(?a)\d{4}-\d{2}-\d{2}"
_TIME: Final = r"(?a)([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?(z|[+-]\d{2}:\d{2})"
_BASE64: Final = r"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})"
_LEADING_ZEROS: Final = r"(?a)(?<![0-9a-fA-F:.])0+(?=\d)|(?<=\.)0+(?=\d)"


def format_of(schema: Mapping[str, Json]) -> str:
    """The format that a schema demands; empty if its type has none of that name, as the API server then ignores it."""
    form, kind = text_at(schema, "format"), text_at(schema, "type")
    if kind in {"", "string"}:
        return form if form.replace("-", "") in _OF_TEXT else ""
    return form if form in _OF_NUMBERS.get(kind, ()) else ""


def is_of_format(text: str, form: str) -> bool:
    """Whether a text is of a format; of a format that nothing here can check, every text is."""
    check = _CHECKS.get(form.replace("-", ""))
    return check is None or check(text)


def _is(text: str, kind: Callable[[str], object]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_address(text: str, kind: Callable[[str], object]) -> bool:
    return _is(re.sub(_LEADING_ZEROS, "", text), kind)  # tolerated, as by k8s.io/utils/net.ParseIPSloppy


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(_DATE, text)) and _is(text, date.fromisoformat)


def _is_date_time(text: str) -> bool:
    day, _, time = text.lower().partition("t")
    return _is_date(day) and bool(re.fullmatch(_TIME, time.partition("t")[0]))


_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "ipv4": lambda text: "." in text and _is_address(text, ip_address),
    "ipv6": lambda text: ":" in text and _is_address(text, ip_address),
    "cidr": lambda text: "/" in text and _is_address(text, ip_interface),
    "byte": lambda text: bool(re.fullmatch(_BASE64, text)),
    "date": _is_date,
    "datetime": _is_date_time,
}
