"""Values that controllers refuse, by the rules of a profile: the first one of a policy, those of backends, in words."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import each_value, every_mapping, items_at, mappings_at, text_at, value_at
from kubectl_policy.model.unknown import has_placeholder
from kubectl_policy.profiles.values import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.model.fields import FieldPath
    from kubectl_policy.profiles.values import BackendRule, Form, ValueRule

_SIZE: Final = r"(?i)([0-9]{1,9})([kmg]?)"
_UNITS: Final = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_DURATION: Final = re.compile(r"[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)")
_QUANTITY: Final = re.compile(r"([+-]?[0-9.]{1,40})(?:([eE][+-]?[0-9]{1,2})|([KMGTPE]i|[numkMGTPE]))?")
_SUFFIXES: Final[Mapping[str, Decimal]] = {
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("num", -3)},
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}
# HTTPHeaderName and HeaderValueRegexp of Gateway API: a name has no `/` or `:`.
_HEADER_NAME: Final = re.compile(r"[^/:]+")
_HEADER_VALUE: Final = re.compile(r"[!-~]+([\t ]?[!-~]+)*")
# A subdomain of RFC 1123, as Kubernetes checks it, with a dot.
_DOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_MAX_DOMAIN: Final = 253
_PATH: Final = re.compile(r"/[^\s{};]*")
_MAX_PATTERN: Final = 2_000
# What neither Python's nor RE2's syntax allows; in other cases the two differ.
_MALFORMED: Final = (
    "missing )",
    "unterminated",
    "unbalanced",
    "nothing to repeat",
    "multiple repeat",
    "bad escape (end of pattern)",
)


def wrong_value(policy: Resource, rules: Iterable[ValueRule], target: GroupKind | None = None) -> tuple[str, bool]:
    """Describe the first value of a policy that breaks a rule, and tell whether the policy still competes.

    The description is "" if there is none. Values with placeholders break no rule. The rules for some kinds of targets
    hold for a `target` of these kinds alone.
    """
    for rule in rules:
        if not rule.targets or target in rule.targets:
            for path, problem in value_problems(policy.raw, rule):
                return f"{path} {problem}", rule.competes
    return "", False


def backend_problems(raw: Mapping[str, Json], rule: BackendRule) -> Iterator[tuple[FieldPath, str]]:
    """Yield each field of a backend that breaks a rule, with the reason, as a clause."""
    for field in rule.fields:
        for path, value in each_value(raw, field):
            if rule.form:
                is_open = isinstance(value, str) and has_placeholder(value)
                if not is_open and not _has_form(rule.form, value):
                    yield path, f"{_shown(value)} is not {FORMS[rule.form]}"
            elif not rule.beside:
                yield path, f"{path} is set"
            else:
                beside = next((str(other_path) for other_path, _ in each_value(raw, rule.beside)), "")
                if beside:
                    yield path, f"{path} and {beside} are set"


def value_problems(raw: Mapping[str, Json], rule: ValueRule) -> Iterator[tuple[str, str]]:
    """Yield the path of each value that breaks a rule, with the problem."""
    for field in rule.fields:
        if rule.default_without:
            yield from ((field, problem) for problem in _limit_problems(mappings_at(raw, field), rule))
            continue
        if rule.max_items is not None:
            if len(items_at(raw, field)) > rule.max_items:
                yield field, f"has {len(items_at(raw, field))} elements, and can have {rule.max_items}"
            continue
        for path, value in each_value(raw, field):
            if not (isinstance(value, str) and has_placeholder(value)):
                unit = text_at(raw, str(path.parent / rule.unit)) if rule.unit else ""
                yield from ((str(path), problem) for problem in _value_problems(value, rule, unit))


def _value_problems(value: Json, rule: ValueRule, unit: str) -> Iterator[str]:
    absent = [name for name in rule.requires if not value_at(value, name)]
    if absent:
        yield f"does not set {', '.join(absent)}"
    shown = _shown(value)
    if rule.form and not _has_form(rule.form, value):
        yield f"{shown} is not {FORMS[rule.form]}"
    if rule.only and value not in rule.only:
        yield f"cannot be {shown}, only {', '.join(rule.only)}"
    number = _number(value)
    if number is None:
        return
    least = None if rule.least is None else rule.least * rule.units.get(unit, 1)
    if least is not None and number < least:
        yield f"{shown} is less than {least}"
    if rule.most is not None and number > rule.most:
        yield f"{shown} is more than {rule.most}"
    if number in rule.excludes:
        yield f"cannot be {shown}"


def _limit_problems(limits: Sequence[Mapping[str, Json]], rule: ValueRule) -> Iterator[str]:
    """Describe what is wrong with a list of limits, of which one is the default."""
    defaults = [limit for limit in limits if not value_at(limit, rule.default_without)]
    if len(defaults) > 1:
        yield f"has {len(defaults)} limits without {rule.default_without}, and may have one"
    unit = text_at(defaults[0], "limit.unit") if defaults else ""
    for limit in every_mapping(limits, "limit"):
        name = text_at(limit, "unit")
        if rule.units.get(name, 0) % rule.units.get(unit, 1):
            yield f"has a limit per {name}, which is no multiple of {unit}, the unit of the default"


def _shown(value: Json) -> str:
    """Return a value as it is shown; text that is empty, or begins or ends with white space or `(`, in quotes."""
    text = str(value)
    return text if text and text == text.strip().lstrip("(") else json.dumps(text)


def _has_form(form: Form, value: Json) -> bool:
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    return text is not None and _FORMS[form](text)


def _number(value: Json) -> Decimal | None:
    """Return a number, or the number that a quantity stands for; None for anything else."""
    match = _QUANTITY.fullmatch(str(value)) if not isinstance(value, bool) else None
    if match is None:
        return None
    try:
        return Decimal(f"{match[1]}{match[2] or ''}") * (_SUFFIXES[match[3]] if match[3] else 1)
    except InvalidOperation:
        return None


def _is_whole(text: str) -> bool:
    number = _number(text)
    return number is not None and number == number.to_integral_value()


def _is_range(text: str) -> bool:
    return "/" in text and _is_network(text, strict=False)


def _is_network(text: str, *, strict: bool = True) -> bool:
    """Whether a text is an address or a range of addresses; `strict` permits no bits beyond the prefix."""
    try:
        ip_network(text, strict=strict)
    except ValueError:
        return False
    return True


def _is_remote(text: str) -> bool:
    """Whether a text is an address of another machine."""
    try:
        return not ip_address(text).is_loopback
    except ValueError:
        return False


def _is_domain(text: str) -> bool:
    """Whether a text is a domain name with two labels or more, and no address."""
    if len(text) > _MAX_DOMAIN or not _DOMAIN.fullmatch(text):
        return False
    try:
        ip_address(text)
    except ValueError:
        return True
    return False


def _may_be_pattern(text: str) -> bool:
    if not text or len(text) > _MAX_PATTERN:
        return bool(text)
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        return not str(error).startswith(_MALFORMED)
    return True


_FORMS: Final[Mapping[Form, Callable[[str], bool]]] = {
    "duration": lambda text: _DURATION.fullmatch(text) is not None,
    "quantity": _is_whole,
    "cidr": _is_range,
    "network": _is_network,
    "address": _is_remote,
    "domain": _is_domain,
    "headerName": lambda text: _HEADER_NAME.fullmatch(text) is not None,
    "headerValue": lambda text: _HEADER_VALUE.fullmatch(text) is not None,
    "path": lambda text: _PATH.fullmatch(text) is not None,
    "pattern": _may_be_pattern,
    "text": bool,
}


def why_too_small(policy: Resource, least_sizes: Mapping[str, Sequence[str]]) -> str:
    """Describe the first size of a policy that is below its minimum; return "" if none is.

    Fields are paths below `spec`; what is absent, or no size, is not compared. A size is a number of bytes, with `k`,
    `m` or `g` for powers of 1024 (nginx: "Sizes can be specified in bytes, kilobytes or megabytes").
    """
    for field, minimum_fields in least_sizes.items():
        for minimum_field in minimum_fields:
            size_text, minimum_text = (value_at(policy.raw, f"spec.{path}") for path in (field, minimum_field))
            size, least = _bytes(size_text), _bytes(minimum_text)
            if size is not None and least is not None and size < least:
                return f"spec.{field} ({size_text}) is less than spec.{minimum_field} ({minimum_text})"
    return ""


def _bytes(value: Json) -> int | None:
    match = re.fullmatch(_SIZE, str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    return int(match[1]) * _UNITS[match[2].lower()] if match else None
