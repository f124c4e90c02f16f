"""How a field of a file is declared, once, and what follows: reading it, writing it, and what is not allowed there."""

from __future__ import annotations

import re
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast, dataclass_transform, get_args

from msgspec import Struct, StructMeta, field
from msgspec.structs import replace

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.snapshot import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json


Class = TypeVar("Class")

_LONGEST: Final = 60
_NO_DEFAULT: Final = object()
# The default of a field that maps names to something.
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Shape:
    """What may stand somewhere in a file (plain values, as YAML has them), and what it means (values of a profile)."""

    plain: ClassVar[type]
    called: ClassVar[str]

    def read(self, plain: Any) -> Any:  # noqa: ANN401 (what it means is up to the shape)
        """What something means that has no problems."""
        return plain

    def write(self, meant: Any) -> Json:  # noqa: ANN401 (see read)
        """What a file says that means something."""
        return meant  # type: ignore[no-any-return]

    def problems(self, plain: Json, at: FieldPath = WHOLE) -> Iterator[Problem]:
        """What is not allowed in something, in the order of the file, with what is allowed instead."""
        if isinstance(plain, self.plain):
            yield from self._within(plain, at)
        else:
            yield Problem(message=f"must be {self.called}, not {shown(plain)}", field=at)

    def _within(self, plain: Any, at: FieldPath) -> Iterator[Problem]:  # noqa: ANN401 (of the plain type)
        del plain, at
        return iter(())


class Boolean(Shape):
    """True or false."""

    plain, called = bool, "true or false"


class WholeNumber(Shape):
    """A whole number with a minimum; booleans are not numbers."""

    def __init__(self, least: int) -> None:
        """Keep the minimum."""
        self.least = least

    def problems(self, plain: Json, at: FieldPath = WHOLE) -> Iterator[Problem]:
        """Yield a problem for a value that is no such number."""
        if isinstance(plain, bool) or not isinstance(plain, int):
            yield Problem(message=f"must be a whole number, not {shown(plain)}", field=at)
        elif plain < self.least:
            yield Problem(message=f"must be at least {self.least}", field=at)


class Text(Shape):
    """Text of some length at least, perhaps of a pattern; `hint` is a sentence that says how it is written."""

    plain, called = str, "text"

    def __init__(self, *, least: int = 0, pattern: str = "", hint: str = "") -> None:
        """Keep what is allowed; any text without a pattern."""
        self.least, self.pattern, self._hint = least, pattern, hint

    def _within(self, plain: str, at: FieldPath) -> Iterator[Problem]:
        if len(plain) < self.least:
            yield _too_short(self.least, at)
        if not re.search(self.pattern, plain):
            yield Problem(message=f"{shown(plain)} does not fit. {self._hint}", field=at)


class Choice(Shape):
    """One of some words, given as such or as a type of theirs; `meaning` makes them what they mean."""

    def __init__(self, allowed: Any, meaning: Callable[[str], Any] = str) -> None:  # noqa: ANN401 (words, or a `Literal`)
        """Keep the words in their order."""
        self.allowed = tuple(map(str, get_args(allowed) or allowed))
        self._meaning = meaning

    def read(self, plain: str) -> Any:  # noqa: ANN401 (see Shape)
        """What the word means."""
        return self._meaning(plain)

    def write(self, meant: Any) -> Json:  # noqa: ANN401 (see Shape)
        """The word."""
        return str(meant)

    def problems(self, plain: Json, at: FieldPath = WHOLE) -> Iterator[Problem]:
        """Anything but these words; YAML takes some of them for something else unless they are in quotes."""
        if plain not in self.allowed:
            quoted = f', in quotes: "{plain}"' if str(plain) in self.allowed else ""
            allowed = ", ".join(self.allowed)
            yield Problem(message=f"{shown(plain)} is not allowed; use one of {allowed}{quoted}", field=at)


class Items(Shape):
    """A list of some length at least; as a frozen set, it is written in order."""

    plain, called = list, "a list"

    def __init__(self, item: Shape, *, least: int = 0, into: Callable[[Iterable[Any]], Any] = tuple) -> None:
        """Keep what each item is."""
        self.item, self.least, self._into = item, least, into

    def read(self, plain: list[Any]) -> Any:  # noqa: ANN401 (see Shape)
        """A tuple or a set."""
        return self._into(map(self.item.read, plain))

    def write(self, meant: Iterable[Any]) -> Json:
        """A list."""
        return [self.item.write(each) for each in (sorted(meant) if isinstance(meant, frozenset) else meant)]

    def _within(self, plain: list[Json], at: FieldPath) -> Iterator[Problem]:
        if len(plain) < self.least:
            yield _too_short(1, at)
        for position, item in enumerate(plain):
            yield from self.item.problems(item, at / position)


def set_of(item: Shape, *, least: int = 0) -> Items:
    """A list in which the order means nothing."""
    return Items(item, least=least, into=frozenset)


class Entries(Shape):
    """A mapping from names to something: from `names` alone (to what each means) if they are given, else from any."""

    plain, called = dict, "a mapping"

    def __init__(self, entry: Shape, *, least: int = 0, names: Mapping[str, str] = NOTHING) -> None:
        """Keep what each entry is."""
        self.entry, self.least, self.names = entry, least, names
        self._written = {meaning: name for name, meaning in names.items()}

    def read(self, plain: dict[str, Any]) -> Any:  # noqa: ANN401 (see Shape)
        """A mapping that never changes."""
        return MappingProxyType({self.names.get(name, name): self.entry.read(each) for name, each in plain.items()})

    def write(self, meant: Mapping[str, Any]) -> Json:
        """A mapping."""
        return {self._written.get(name, name): self.entry.write(each) for name, each in meant.items()}

    def _within(self, plain: dict[str, Json], at: FieldPath) -> Iterator[Problem]:
        if len(plain) < self.least:
            yield _too_short(1, at)
        for name, entry in plain.items():
            if self.names and name not in self.names:
                yield _no_such_field(name, self.names, at)
            else:
                yield from self.entry.problems(entry, at / name)


class Declaration(Struct, frozen=True, gc=False):
    """What is declared of a field of a file.

    The text below the attribute is its documentation: what it means and, after "Without it:", what holds without it if
    that is not the default.
    """

    shape: Shape
    # What files call it, if not the attribute in camel case.
    name: str = ""
    # The heading in the documentation for it and for those after it.
    topic: str = ""
    # Whether every file has it.
    required: bool = False
    # Whether it is written even if it says what holds without it.
    always: bool = False
    # Whether its own fields stand beside the others.
    spread: bool = False
    attribute: str = ""
    default: object = _NO_DEFAULT


def required_field(shape: Shape, *, name: str = "", topic: str = "", spread: bool = False) -> Any:  # noqa: ANN401 (a field)
    """A field of a value that a file always has; see `Declaration`."""
    return Declaration(shape, name=name, topic=topic, required=True, spread=spread)


def field_of(  # noqa: PLR0913 (see Declaration)
    shape: Shape,
    *,
    default: Any,  # noqa: ANN401 (of any type)
    name: str = "",
    topic: str = "",
    required: bool = False,
    always: bool = False,
) -> Any:  # noqa: ANN401 (a field)
    """A field of a value that a file may have, unless it is `required` there; see `Declaration`."""
    return Declaration(shape, name=name, topic=topic, required=required, always=always, default=default)


@dataclass_transform(frozen_default=True, field_specifiers=(required_field, field_of, field))
class _DeclaredMeta(StructMeta):
    """Make Structs of classes with declarations, which are kept beside the fields."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:  # noqa: ANN401 (a class)
        """Take the declarations out of the class, and leave the defaults."""
        declarations = {key: item for key, item in namespace.items() if isinstance(item, Declaration)}
        defaults = {key: item.default for key, item in declarations.items() if item.default is not _NO_DEFAULT}
        others = {key: item for key, item in namespace.items() if key not in declarations}
        cls: Any = super().__new__(mcls, name, bases, {**others, **defaults}, **options)
        cls.declarations = MappingProxyType(declarations)
        return cls


@dataclass_transform(frozen_default=True, field_specifiers=(required_field, field_of, field))
class Declared(Struct, metaclass=_DeclaredMeta):
    """A value of which some fields are those of a mapping in a file."""


class Record(Shape):
    """A mapping with the fields that a class declares, or that are given for it; a function may return the class."""

    plain, called = dict, "a mapping"

    def __init__(self, of: type | Callable[[], type], *given: Declaration) -> None:
        """Look at the class only when a file is read: one may have a field with values of its own."""
        self._of, self._given = of, given

    @cached_property
    def meant(self) -> type:
        """The class."""
        return self._of if isinstance(self._of, type) else self._of()

    @cached_property
    def _named(self) -> Sequence[tuple[str, str, Declaration]]:
        """The attribute of each declaration, and what files call it."""
        named = [(each.name, each) for each in self._given]
        if not named:
            declarations: Mapping[str, Declaration] = getattr(self.meant, "declarations", {})
            named = [*declarations.items()]
        return [(attribute, each.name or camel_case(attribute), each) for attribute, each in named]

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """Those of the class, in its order."""
        return tuple(replace(each, attribute=attribute, name=name) for attribute, name, each in self._named)

    @cached_property
    def fields(self) -> Mapping[str, Declaration]:
        """Every field that a file may have here, by its name there."""
        by_name: dict[str, Declaration] = {}
        for each in self.declarations:
            by_name |= each.shape.fields if isinstance(each.shape, Record) and each.spread else {each.name: each}
        return by_name

    def read(self, plain: dict[str, Any]) -> Any:  # noqa: ANN401 (see Shape)
        """A value of the class."""
        return self.meant(**self.values(plain))

    def values(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes of which a file says something."""
        # To make the declarations takes longer than to read what most files say.
        return {
            attribute: each.shape.read(plain if each.spread else plain[name])
            for attribute, name, each in self._named
            if each.spread or name in plain
        }

    def write(self, meant: object) -> dict[str, Json]:
        """Every field that does not say what holds without it."""
        written: dict[str, Json] = {}
        for each in self.declarations:
            said = getattr(meant, each.attribute)
            if each.spread:
                written |= cast("dict[str, Json]", each.shape.write(said))
            elif each.always or said != each.default:
                written[each.name] = each.shape.write(said)
        return written

    def _within(self, plain: dict[str, Json], at: FieldPath) -> Iterator[Problem]:
        for name, child in plain.items():
            if name in self.fields:
                yield from self.fields[name].shape.problems(child, at / name)
            else:
                yield _no_such_field(name, self.fields, at)
        for name, each in self.fields.items():
            if each.required and name not in plain:
                yield Problem(message=f"the field {name} is missing", field=at)


# A kind, wherever one is named.
KIND: Final = Record(
    GroupKind,
    Declaration(Text(), name="group", required=True),
    Declaration(Text(least=1), name="kind", required=True),
)
# A field, as dotted text.
PATH: Final = Text(
    pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$", hint="A field is written as a dotted path, such as spec.targetRef."
)
# A field, or by a * each of some in a map.
PLACES: Final = Text(
    pattern=r"^[A-Za-z0-9_-]+(\.(\*|[A-Za-z0-9_-]+))*$",
    hint="Fields are written as spec.secretRef or spec.rules.*.secretRef (of each entry of a map).",
)
NAME: Final = Text(least=1)
# A field, or by a * each of some, that protects something.
PROTECTING: Final = Text(
    pattern=r"^(\*|[A-Za-z0-9_-]+)(\.(\*|[A-Za-z0-9_-]+))*$",
    hint="Fields are written as jwt, perPort.*.tls (of each entry of a map or a list) or * (every field).",
)


def camel_case(name: str) -> str:
    """What an attribute, or another thing of some words, is called in files: `same_level` is `sameLevel` there."""
    first, *rest = name.replace(" ", "_").split("_")
    return first + "".join(map(str.capitalize, rest))


def shown(plain: Json) -> str:
    """A value as a message quotes it: in one line that is not too long."""
    if plain is None:
        return "empty"
    if isinstance(plain, bool):
        return str(plain).lower()
    text = repr(plain)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _too_short(least: int, at: FieldPath) -> Problem:
    return Problem(message="must not be empty" if least == 1 else f"must have at least {least} characters", field=at)


def _no_such_field(name: str, known: Iterable[str], at: FieldPath) -> Problem:
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    folded = {field.lower(): field for field in known}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.75)
    hint = f"did you mean {folded[near[0]]}?" if near else f"known fields: {', '.join(sorted(known))}"
    return Problem(message=f"there is no such field; {hint}", field=at / name)
