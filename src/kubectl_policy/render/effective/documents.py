"""A matrix as a versioned document: everything that its tables say, and who sets what where."""

from __future__ import annotations

from typing import Final

from kubectl_policy.model import NodeRef, Origin
from kubectl_policy.questions.effective.cells import Cell, Column, Part, Written, WrittenBy
from kubectl_policy.questions.effective.matrix import Matrix, Row
from kubectl_policy.render.effective.words import matrix_headline
from kubectl_policy.render.output.documents import Field, document, shape
from kubectl_policy.render.output.parts import COMPLETE, UNSEEN, headline_field, numbers_field, paths_field

shape(
    Column,
    "effectiveColumn",
    Field("kind", doc="The policy kind; null for a column about a field."),
    Field("field", doc="The field; empty for a column about a whole kind."),
)
shape(
    Written,
    "writtenSetting",
    Field("field", doc="As it is called in a description."),
    Field("value"),
    Field("source"),
    Field("origin"),
    Field("certain", doc="False where it is not known how the policies there combine."),
)
shape(WrittenBy, "writtenBy", Field("source"), Field("origin"))
shape(
    Part,
    "effectivePart",
    Field("kind"),
    Field("summary", doc="In short phrases; empty for a field with a value of its own."),
    Field("settings", doc="The fields that the column is about; empty if it is about a whole kind."),
    Field("sources", doc="Who sets it, least specific first."),
    Field("certain", doc="False where it is not known how the policies there combine."),
    Field("passesDown", doc="True if it takes effect further down than the paths of the row reach."),
    numbers_field("paths", lambda part: part.paths, "The numbers of the paths on which it is in force."),
    Field(
        "unseen",
        doc="What was not read, or not as it is: a policy that sets this may be invalid, or different.",
    ),
)
shape(
    Cell,
    "effectiveCell",
    Field("parts", doc="What is in force in the column of the same place; several where paths differ."),
    numbers_field("without", lambda cell: cell.without, "The numbers of the paths on which nothing is."),
    Field("unknown", doc="True if something that could not be seen may set something there."),
)
shape(
    Row,
    "effectiveItem",
    Field("subject", type=NodeRef, doc="The rule of a route, or the object."),
    Field("origin", type=Origin | None),
    Field("hostnames", type=tuple[str, ...], doc="Those of a route, as it says them."),
    Field(
        "complete",
        lambda row: not row.unseen,
        type=bool,
        doc="False if something that could matter for it could not be seen.",
    ),
    paths_field("Those that carry traffic; without any nothing takes effect."),
    Field("cells", doc="One for each column."),
    numbers_field("without", lambda row: row.without, "The numbers of the paths on which no column has anything."),
)
MATRIX: Final = document(
    Matrix,
    "EffectiveList",
    headline_field(matrix_headline, "How many rows there are, for people."),
    COMPLETE,
    Field("of", "asked.of", doc="Of which objects there are rows."),
    Field("missing", "asked.missing", doc="True if only rows are listed with a path on which no column has anything."),
    Field("namespace", doc="Empty if the objects are from every namespace, or in none."),
    Field("examined", doc="How many rows there are with those that are not listed.", limits={"minimum": 0}),
    Field("idle", doc="How many of these get no traffic.", limits={"minimum": 0}),
    Field("columns"),
    Field("items", "rows"),
    UNSEEN,
    doc="The answer of get effective.",
)
