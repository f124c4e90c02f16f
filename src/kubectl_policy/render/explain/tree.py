"""The answer about a policy kind for one reader at a terminal: what it is, then what follows, then who says so."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import POLICY_LABEL, listed
from kubectl_policy.render.explain.combining import above_words, on_one_target_words
from kubectl_policy.render.explain.wording import TWO, reach_words, statements
from kubectl_policy.render.output.text import Line, Span, cells, pad
from kubectl_policy.render.wording.names import count, in_file, levels_words
from kubectl_policy.render.wording.next_commands import next_section
from kubectl_policy.render.wording.sections import headline_line, section, unseen_section
from kubectl_policy.render.wording.unseen import as_far_as

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.profiles.profile import Role
    from kubectl_policy.questions.explain import Explanation
    from kubectl_policy.render.explain.wording import Statement
    from kubectl_policy.render.output.text import Document, View
    from kubectl_policy.render.wording.next_commands import Command


_ASSUMED: Final = {
    "being a policy": "that it is a policy kind",
    "class": "its class",
    "merge strategy": "its merge strategy",
}
# How to find out whether what is assumed is so.
REMEDIES: Final = {
    "being a policy": "Is it meant to change the behaviour of what its target references name? Its documentation says"
    " so.",
    "class": "Does a policy on a Gateway change what its routes do (inherited), or the Gateway alone (direct)? The"
    f" label {POLICY_LABEL} of its CustomResourceDefinition says so, or its documentation.",
    "merge strategy": "With a policy on a Gateway and one on a route, which settings hold on the route? Look for merge,"
    " override, precedence and conflict in its documentation, or try it and compare.",
}
_BELIED: Final = (
    "Its label says direct, but its policies target Gateways and routes. Does one on a Gateway change what its routes"
    " do? Then it is inherited, whatever its label says."
)
_NOTES: Final[Mapping[bool, str]] = {False: "Notes", True: "What is not computed, so that answers may be wrong there"}
_MARKS: Final = {"assumed": " (assumed)", "default": " (by default)"}
_BY_DEFAULT: Final = "nothing says otherwise, so what GEP-713 says for all policy kinds is assumed"


# What a kind is that is not a policy kind.
_WHAT: Final[Mapping[Role, str]] = {
    "filter": "a kind of filters that routes name",
    "parameters": "a kind of parameters that Gateways and their classes name",
}


def explanation_headline(answer: Explanation) -> str:
    """The answer in one sentence; if it rests on assumptions or is incomplete, the same sentence says so."""
    profile = answer.profile
    verb = "looks like" if "being a policy" in profile.assumed else "is"
    what = _WHAT.get(profile.role) or profile.class_words.replace("policy", "policy kind", 1)
    sentence = f"{profile.group_kind} {verb} {what}: {_gist(answer)}"
    assumed = [_ASSUMED[choice] for choice in profile.assumed]
    doubt = f"; {listed(assumed)} {'is' if len(assumed) == 1 else 'are'} assumed" if assumed else ""
    return f"{sentence}{doubt}{as_far_as(answer.unseen)}."


def _gist(answer: Explanation) -> str:
    profile = answer.profile
    if not profile.attaches_as_known:
        return "how its policies attach is not computed, so nothing is claimed about what they affect"
    if profile.role == "filter":
        return f"one changes the requests of the rule that names it; of two there, {on_one_target_words(profile)}"
    if profile.role == "parameters":
        choose = "they say themselves which one wins" if profile.strategy_field else above_words(profile)
        return f"they hold for all that the Gateway serves; of those of a class and of its Gateway, {choose}"
    reach = f"a policy changes {reach_words(profile)}"
    if profile.strategy_field or profile.stanzas in {"plural", "singular"}:
        return f"{reach}; of two policies, they say themselves which one wins"
    return f"{reach}; of two policies, {above_words(profile) or on_one_target_words(profile)}"


def explanation_tree(answer: Explanation, view: View) -> Document:
    """The answer about a policy kind in the order of thought that every command keeps."""
    profile, said = answer.profile, list(statements(answer))
    nearer = " (the nearer one is the one nearer to the backend)" if profile.policy_class == "inherited" else ""
    remedies = {**REMEDIES, **({"class": _BELIED} if profile.policy_class == "direct" else {})}
    notes = [Line((Span(profile.notes, prose=True),), 2, 2)] if profile.notes else []
    return (
        headline_line(explanation_headline(answer)),
        *(
            line
            for topic, together in groupby(said, lambda statement: statement.topic)
            for line in section(topic + (nearer if topic == TWO else ""), _rows(_labelled(together, answer)))
        ),
        *section("How this is known", _rows(_known(answer, said))),
        *section("What is assumed", _rows((choice, remedies[choice], "") for choice in profile.assumed)),
        *section(_NOTES[profile.approximate], notes),
        *unseen_section(answer.unseen),
        *next_section(_next(answer), view),
    )


def _next(answer: Explanation) -> Iterator[Command]:
    """A profile of the kind, if there is none, and the kind's policies."""
    name = str(answer.profile.group_kind).lower()
    if answer.profile.known_by != "profile":
        yield "explain", name, "--draft-profile"
    if answer.policies:
        yield "get", name, "-A"


def _labelled(together: Iterable[Statement], answer: Explanation) -> Iterator[tuple[str, str, str]]:
    """Rows of a label, words and a mark; what several rows share is written once."""
    last = ""
    for said in together:
        again = said.label == last
        yield "" if again else said.label, said.text, "" if again else _MARKS.get(said.basis, "")
        last = said.label
        if said.attributes == ("declared_targets",) and answer.policies:
            parts = [f"{levels_words([target])} ({count(target.references, 'reference')})" for target in answer.targets]
            named = "; ".join(parts) or "without target references"
            yield f"in {answer.place}", f"{count(answer.policies, 'policy')}: {named}", ""


def _known(answer: Explanation, said: Iterable[Statement]) -> Iterator[tuple[str, str, str]]:
    names = answer.names
    yield "names", ", ".join(dict.fromkeys((names.plural, names.singular, *names.short_names))), ""
    where = in_file(answer.origin, ", {}")
    match answer.profile.known_by:
        case "profile":
            yield "profile", f"{answer.origin}", ""
        case "label":
            yield "label", f"{POLICY_LABEL} of its CustomResourceDefinition{where}", ""
        case _:
            yield "shape", f"it has target references{where}", ""
    read = dict.fromkeys(statement.label for statement in said if statement.basis == "schema")
    if read:
        yield "schema", f"of its CustomResourceDefinition, for: {', '.join(read)}", ""
    for position, evidence in enumerate(answer.profile.evidence):
        yield "" if position else "evidence", evidence, ""
    if any(statement.basis == "default" for statement in said):
        yield "by default", _BY_DEFAULT, ""


def _rows(rows: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    """Lines with their labels in one column."""
    aligned = list(rows)
    width = max((cells(label) for label, _, _ in aligned), default=0)
    for label, text, mark in aligned:
        start = Span(pad(label, width) + "   ", "subject" if label else "")
        spans = (start, Span(text, prose=True), Span(mark, "aside", prose=True))
        yield Line(tuple(span for span in spans if span.text), 2, 2 + width + 3)
