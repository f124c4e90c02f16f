"""Read files into Structs with msgspec, report in words what a type does not allow, and write Structs as files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from msgspec import Meta, Struct, convert
from msgspec.structs import fields

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.snapshot import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json

Type = TypeVar("Type")

_MAX_QUOTED: Final = 60
# Types of plain values, as messages call them.
_CALLED: Final = {bool: "true or false", int: "a whole number", str: "text", list: "a list", dict: "a mapping"}
# The default of a field that maps names to values.
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

# A field for code alone, which no file may have.
INTERNAL: Final = Meta(extra={"internal": True})
# A field whose own fields stand beside the others in files.
SPREAD: Final = Meta(extra={"spread": True})
# A field that every file has, although code may do without it.
REQUIRED: Final = Meta(extra={"required": True})
# A field that is written even if it has its default.
ALWAYS: Final = Meta(extra={"always": True})


def text_like(pattern: str, hint: str) -> Meta:
    """Return the limits of text that has a pattern; the hint says how it is written.

    The pattern is for `problems` alone: msgspec would compile all patterns before it reads the first file.
    """
    return Meta(extra={"pattern": pattern, "hint": hint})


Name: TypeAlias = Annotated[str, Meta(min_length=1)]
# A field, as dotted text.
FieldName: TypeAlias = Annotated[
    str,
    text_like(r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$", "A field is written as a dotted path, such as spec.targetRef."),
]
# A field, or by a * the entries of a map.
FieldPattern: TypeAlias = Annotated[
    str,
    text_like(
        r"^[A-Za-z0-9_-]+(\.(\*|[A-Za-z0-9_-]+))*$",
        "Fields are written as spec.secretRef or spec.rules.*.secretRef (of each entry of a map).",
    ),
]
# A field, or by a * entries, that protects something.
SecurityField: TypeAlias = Annotated[
    str,
    text_like(
        r"^(\*|[A-Za-z0-9_-]+)(\.(\*|[A-Za-z0-9_-]+))*$",
        "Fields are written as jwt, perPort.*.tls (of each entry of a map or a list) or * (every field).",
    ),
]


class FileType(Struct, frozen=True):
    """The type that an annotation allows in a file, without null, with the limits and remarks of its `Meta`s."""

    type: Any
    # The class of a generic type (`tuple`, `Mapping`), or the type itself.
    origin: Any
    # The annotations of the items of a list, or of the keys and the values of a map; the values of a `Literal`.
    items: tuple[Any, ...]
    metas: tuple[Meta, ...]
    # The remarks for this module.
    extra: Mapping[str, Any]

    @property
    def min_length(self) -> int:
        """The least length of text, and the least number of items."""
        return next((meta.min_length for meta in self.metas if meta.min_length), 0)

    @property
    def minimum(self) -> float | None:
        """The least number; None without a limit."""
        return next((meta.ge for meta in self.metas if meta.ge is not None), None)

    @property
    def constants(self) -> tuple[str, ...]:
        """The values of which a file has one; none for other types."""
        if self.origin is Literal:
            return self.items
        if isinstance(self.type, type) and issubclass(self.type, str) and self.type is not str:
            return tuple(map(str, self.extra.get("allowed", self.type)))
        return ()

    @property
    def names(self) -> Mapping[str, str]:
        """The names that a map may have in a file, with its keys in code; empty for any name."""
        if self.origin is not Mapping:
            return NOTHING
        return {camel_case(key): key for key in file_type(self.items[0]).constants}

    @property
    def is_list(self) -> bool:
        """Whether a file has a list."""
        return self.origin in {tuple, frozenset}

    @property
    def is_struct(self) -> bool:
        """Whether a file has a mapping with the fields of a Struct."""
        return isinstance(self.type, type) and issubclass(self.type, Struct)


class FileField(Struct, frozen=True):
    """A field that a file may have in a mapping."""

    name: str
    attribute: str
    # The class that declares the field, where its documentation stands.
    owner: type[Struct]
    type: FileType
    required: bool
    default: Any


def file_type(annotation: Any) -> FileType:  # noqa: ANN401 (any annotation)
    """Return the type that an annotation allows in a file.

    A `Meta` with `in_files` names the Struct that files have instead of a tuple: that of its first item, with the other
    items in a list `also`.
    """
    metas: list[Meta] = []
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *annotation_metas = get_args(annotation)
            metas += annotation_metas
        elif origin in {Union, UnionType}:
            (annotation,) = (option for option in get_args(annotation) if option is not NoneType)
        else:
            extra = {name: remark for meta in metas for name, remark in (meta.extra or {}).items()}
            wanted = extra.get("in_files", annotation)
            return FileType(wanted, get_origin(wanted) or wanted, get_args(wanted), tuple(metas), extra)


@cache
def declared_fields(cls: type[Struct]) -> tuple[FileField, ...]:
    """Return the fields of a class that files have; a `SPREAD` field is one of them, not the fields in it."""
    declared: list[FileField] = []
    for field in fields(cls):
        of_type = file_type(field.type)
        if "internal" in of_type.extra:
            continue
        # An answer may quote a reference without a kind, but a file never names one.
        if (cls, field.name) == (GroupKind, "kind"):
            of_type = file_type(Name)
        required = field.required or "required" in of_type.extra
        declared.append(FileField(field.encode_name, field.name, cls, of_type, required, field.default))
    return tuple(declared)


@cache
def file_fields(cls: type[Struct]) -> Mapping[str, FileField]:
    """Return every field that a file may have for a class, by its name there."""
    by_name: dict[str, FileField] = {}
    for field in declared_fields(cls):
        by_name |= file_fields(field.type.type) if "spread" in field.type.extra else {field.name: field}
    return by_name


def read(plain: Any, wanted: type[Type]) -> Type:  # noqa: ANN401 (plain values)
    """Convert plain values without problems to a type."""
    return convert(_nested(plain, file_type(wanted)), wanted)


def _nested(plain: Any, wanted: FileType) -> Any:  # noqa: ANN401 (plain values)
    """Return plain values in the form that msgspec reads: nested as in code, with the keys that code has."""
    if wanted.is_list:
        item_type = file_type(wanted.items[0])
        return [_nested(item, item_type) for item in plain]
    if wanted.origin in {Mapping, dict}:
        value_type, names = file_type(wanted.items[1]), wanted.names
        return {names.get(name, name): _nested(value, value_type) for name, value in plain.items()}
    nested = dict(plain)
    for field in _differing(wanted.type):
        if "spread" in field.type.extra:
            nested[field.name] = {name: nested.pop(name) for name in file_fields(field.type.type) if name in nested}
        elif field.name in nested:
            nested[field.name] = _nested(nested[field.name], field.type)
    if "in_files" in wanted.extra:
        return [nested, *nested.pop("also", ())]
    return nested


@cache
def _differing(cls: type[Struct]) -> tuple[FileField, ...]:
    """Return the fields of a class that have another form in files than in code."""
    return tuple(field for field in declared_fields(cls) if _differs(field.type, cls))


def _differs(wanted: FileType, within: type[Struct]) -> bool:
    if wanted.constants or wanted.type is within:
        return False
    if wanted.is_struct:
        return not wanted.extra.keys().isdisjoint(("spread", "in_files")) or bool(_differing(wanted.type))
    items = (item for item in wanted.items if item is not Ellipsis)
    return bool(wanted.names) or any(_differs(file_type(item), within) for item in items)


def write(value: Struct) -> dict[str, Json]:
    """Return every field of a file that does not have its default, as plain values."""
    written: dict[str, Json] = {}
    for field in declared_fields(type(value)):
        part = getattr(value, field.attribute)
        if "spread" in field.type.extra:
            written |= write(part)
        elif "always" in field.type.extra or part != field.default:
            written[field.name] = _written(part, field.type)
    return written


def _written(value: Any, wanted: FileType) -> Json:  # noqa: ANN401 (any value)
    if "in_files" in wanted.extra:
        first, *also = map(write, value)
        return {**first, "also": also} if also else first
    if wanted.is_struct:
        return write(value)
    if wanted.is_list:
        item_type = file_type(wanted.items[0])
        return [_written(item, item_type) for item in (sorted(value) if wanted.origin is frozenset else value)]
    if wanted.origin is Mapping:
        value_type = file_type(wanted.items[1])
        names: dict[Any, str] = {key: name for name, key in wanted.names.items()}
        return {names.get(key, str(key)): _written(inner, value_type) for key, inner in value.items()}
    return str(value) if isinstance(value, str) else value


def problems(plain: Json, wanted: Any, at: FieldPath = WHOLE) -> Iterator[Problem]:  # noqa: ANN401 (any annotation)
    """Yield the parts of plain values that a type does not allow, in the order of the file, with allowed values."""
    yield from _problems(plain, file_type(wanted), at)


def _problems(plain: Any, wanted: FileType, at: FieldPath) -> Iterator[Problem]:  # noqa: ANN401 (plain values)
    expected: Any = wanted.type if wanted.type in _CALLED else list if wanted.is_list else dict
    if wanted.constants:
        if plain not in wanted.constants:
            # YAML reads some of these without quotes as other values.
            quoted = f', in quotes: "{plain}"' if str(plain) in wanted.constants else ""
            message = f"{shown(plain)} is not allowed; use one of {', '.join(wanted.constants)}{quoted}"
            yield Problem(message=message, field=at)
    elif not isinstance(plain, expected) or (expected is int and isinstance(plain, bool)):
        yield Problem(message=f"must be {_CALLED[expected]}, not {shown(plain)}", field=at)
    elif expected is int:
        if wanted.minimum is not None and plain < wanted.minimum:
            yield Problem(message=f"must be at least {wanted.minimum}", field=at)
    elif wanted.is_struct:
        yield from _problems_of_fields(plain, file_fields(wanted.type), at)
    elif expected in {str, list, dict}:
        yield from _problems_within(plain, wanted, at)


def _problems_within(plain: Any, wanted: FileType, at: FieldPath) -> Iterator[Problem]:  # noqa: ANN401 (plain values)
    if len(plain) < wanted.min_length:
        long = f"must have at least {wanted.min_length} characters"
        yield Problem(message="must not be empty" if wanted.min_length == 1 else long, field=at)
    if isinstance(plain, str):
        if not re.search(wanted.extra.get("pattern", ""), plain):
            yield Problem(message=f"{shown(plain)} does not fit. {wanted.extra['hint']}", field=at)
    elif isinstance(plain, list):
        item_type = file_type(wanted.items[0])
        for position, item in enumerate(cast("Iterable[Any]", plain)):
            yield from _problems(item, item_type, at / position)
    else:
        names, value_type = wanted.names, file_type(wanted.items[1])
        for name, value in plain.items():
            if names and name not in names:
                yield _no_such_field(name, names, at)
            else:
                yield from _problems(value, value_type, at / name)


def _problems_of_fields(plain: dict[str, Any], allowed: Mapping[str, FileField], at: FieldPath) -> Iterator[Problem]:
    for name, child in plain.items():
        if name in allowed:
            yield from _problems(child, allowed[name].type, at / name)
        else:
            yield _no_such_field(name, allowed, at)
    for name, field in allowed.items():
        if field.required and name not in plain:
            yield Problem(message=f"the field {name} is missing", field=at)


def camel_case(name: str) -> str:
    """Return the name in files of an attribute, or of a phrase: `same_level` is `sameLevel`."""
    first, *rest = name.replace(" ", "_").split("_")
    return first + "".join(map(str.capitalize, rest))


def shown(plain: Json) -> str:
    """Return a value as a message quotes it: in one line that is not too long."""
    if plain is None:
        return "empty"
    if isinstance(plain, bool):
        return str(plain).lower()
    # Text is quoted as people quote it; mappings and lists are written as they are in files.
    text = repr(plain) if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…"


def _no_such_field(name: str, allowed: Iterable[str], at: FieldPath) -> Problem:
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    folded = {field.lower(): field for field in allowed}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.75)
    hint = f"did you mean {folded[near[0]]}?" if near else f"known fields: {', '.join(sorted(allowed))}"
    return Problem(message=f"there is no such field; {hint}", field=at / name)
