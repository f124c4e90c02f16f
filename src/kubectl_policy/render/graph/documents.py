"""A picture as a versioned document."""

from typing import Final

from kubectl_policy.questions.graph.picture import Picture
from kubectl_policy.render.graph.words import graph_headline
from kubectl_policy.render.output.documents import answer_document

GRAPH: Final = answer_document(Picture, "Graph", graph_headline)
