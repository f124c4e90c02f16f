"""The documentation is true: commands print what it shows, examples run, links lead somewhere, nothing is left out."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from typer.core import TyperOption

from kubectl_policy import cli, errors, load_profiles
from kubectl_policy.cli.app import all_names, build_command
from kubectl_policy.cli.completion.candidates import RULES_TABLE
from kubectl_policy.cli.describing import OBJECT_DESCRIPTION
from kubectl_policy.cli.linting.project import Project
from kubectl_policy.cli.syntax import COMMANDS, HEADINGS, OPTIONS_TABLE, OTHER_OPTIONS
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.settings import Requirement, RouteSelection
from kubectl_policy.model.kind_roles import KIND_ROWS
from kubectl_policy.profiles.reading import file_fields
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.output.encoding import API_VERSION
from tests import pictures
from tests.lint import rules_page
from tests.profiles import reference
from tests.render.schema import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.render.output.formats import Renderers

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCE: Final = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAP: Final = re.compile("(<!-- map -->\n)(?:.*\n)*?(<!-- end of the map -->)")
KINDS: Final = re.compile("(<!-- kinds -->\n)(?:.*\n)*?(<!-- end of kinds -->)")
STEP: Final = re.compile(r"((?:`[\w.]+`(?:,\s+|\s+and\s+)?)+)\s*\(`([\w/]+\.py)`\)")
MEMBERS: Final = re.compile("(<!-- members -->\n)(?:.*\n)*?(<!-- end of members -->)")
PACKAGE: Final = ROOT / "src" / "kubectl_policy"
COMMANDS_PAGE: Final = ROOT / "docs" / "commands.md"
RULES_PAGE: Final = ROOT / "docs" / "rules.md"
# Programs that examples may start. Others that render, such as flate, change no page where they are installed.
PROGRAMS: Final = frozenset({"dot", "git", "helm", "kubectl"})
# The versions of programs that pages show, whichever are installed.
VERSIONS: Final = {"kubectl kustomize": "5.5.0", "helm": "4.3.1"}
LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")


def text_of(page: Path) -> str:
    """A page as it is read."""
    return page.read_text("utf-8")


def name_of(page: Path) -> str:
    """A page's name in the output of the tests."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and content."""
    return BLOCK.findall(text_of(page))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+)$", BLOCK.sub("", text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(page: Path, heading: str) -> str:
    """The part of a page below a heading of the second level."""
    return text_of(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def run(command: str) -> tuple[str, int]:
    """Return the output of a command, both streams in the order of printing, and its exit code."""
    words = shlex.split(command)
    assert words[:2] == ["kubectl", "policy"], f"a page shows another command: {command}"
    printed, which = io.StringIO(), shutil.which
    with pytest.MonkeyPatch.context() as patches:
        patches.chdir(ROOT)
        patches.setattr(shutil, "which", lambda name: which(name) if name in PROGRAMS else None)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = cli.run(words[2:], "kubectl policy")
    return with_shown_versions(printed.getvalue()), code


def with_shown_versions(output: str) -> str:
    """Replace the versions in `rendered 2 folders with kubectl kustomize 5.7.1` by those that pages show."""
    for program, version in VERSIONS.items():
        output = re.sub(rf"^(rendered .* with {program}) \d\S*", rf"\1 {version}", output, flags=re.MULTILINE)
    return output


def transcript(commands: list[str]) -> str:
    """Commands with what they print; `echo $?` prints the exit code of the one before."""
    found, code = "", 0
    for command in commands:
        output, code = (f"{code}\n", 0) if command == "echo $?" else run(command)
        found += f"$ {command}\n{output}"
    return found


def with_real_output(page: Path) -> str:
    """A page whose console blocks show what their commands print now, and whose map what modules say of themselves."""

    def filled(block: re.Match[str]) -> str:
        commands = re.findall(r"^\$ (.+)$", block[2], re.MULTILINE)
        # Where programs are missing, answers about repositories are others, and hints name what to install.
        can_be_run = all(shutil.which(program) for command in commands for program in programs_for(command))
        return f"```console\n{transcript(commands)}```" if block[1] == "console" and can_be_run else block[0]

    text = BLOCK.sub(filled, text_of(page))
    text = MAP.sub(lambda match: f"{match[1]}{module_map()}{match[2]}", text)
    text = KINDS.sub(lambda match: f"{match[1]}{kind_table()}{match[2]}", text)
    return MEMBERS.sub(lambda match: f"{match[1]}{tables()}\n{match[2]}", text)


def programs_for(command: str) -> tuple[str, ...]:
    """Return the programs that a command needs for the answer that a page shows."""
    if "fixtures/repositories" not in command:
        return ()
    return ("kubectl", "helm") if "/helm" in command or "/argo" in command else ("kubectl",)


def module_map() -> str:
    """Every module with the first paragraph of its docstring, folder by folder."""
    rows = ["| module | what it is about |", "|---|---|"]
    for path in sorted(PACKAGE.rglob("*.py"), key=lambda path: (path.parent.parts, path.name != "__init__.py", path)):
        said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        name = path.relative_to(PACKAGE).as_posix()
        shown = f"**`{name.removesuffix('/__init__.py')}`**" if name.endswith("/__init__.py") else f"`{name}`"
        rows.append(f"| {shown} | {' '.join(said.partition(chr(10) * 2)[0].split())} |")
    return "\n".join(rows) + "\n"


def kind_table() -> str:
    """The rows of the table of kind roles."""
    rows = ["| kind | role | sections | references upward | parameters |", "|---|---|---|---|---|"]
    for row in KIND_ROWS:
        sections = f"{row.section_noun}s: `{row.sections}`" if row.sections else ""
        upward, parameters = (f"`{field}`" if field else "" for field in (row.parents, row.parameters))
        rows.append(f"| {row.group_kind.kind} | {row.role} | {sections} | {upward} | {parameters} |")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_shown_command_prints_what_is_shown(page: Path) -> None:
    """Byte for byte, and the map of modules likewise; `python -m tests.test_docs` writes what is true now."""
    assert with_real_output(page) == text_of(page)


def test_the_drawn_bakery_is_the_bakery() -> None:
    """What is written in the picture is what would be now; `python -m tests.pictures` draws it anew."""
    drawn = (pictures.FOLDER / "bakery.svg").read_text("utf-8")
    now = pictures.printed(pictures.PICTURES["bakery.svg"].replace("-o svg", "-o dot"))
    assert pictures.words_of_svg(drawn) == pictures.words_of_dot(now)


def test_the_page_of_the_bakery_is_the_page() -> None:
    """Byte for byte."""
    page = (pictures.FOLDER / "bakery.html").read_text("utf-8")
    assert page == pictures.printed(pictures.PICTURES["bakery.html"])


def test_the_readme_opens_with_the_demo() -> None:
    """What `make demo` asks is what a reader sees first."""
    (demo,) = re.findall(r"^DEMO = \$\(BIN\)/kubectl-policy (.+)$", text_of(ROOT / "Makefile"), re.MULTILINE)
    first = next(content for language, content in blocks(ROOT / "README.md") if language == "console")
    assert first.splitlines()[0] == f"$ kubectl policy {demo}"


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "python-api.md"], ids=name_of)
def test_the_python_examples_of_a_page_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of one page belong together; a text block after one is what it prints."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    found = [block for block in blocks(page) if block[0] in {"python", "text"}]
    assert any(language == "python" for language, _ in found)
    for (language, content), (following, expected) in zip(found, [*found[1:], ("", "")], strict=True):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(content, name_of(page), "exec"), names)  # noqa: S102 - the examples of our own pages
            assert printed.getvalue() == (expected if following == "text" else "")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    """To a file that exists and, if it names one, to a heading in it."""
    for path, anchor in LINK.findall(text_of(page)):
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), f"{name_of(page)}: {path} leaves the project"
        assert target.exists(), f"{name_of(page)}: {path} does not exist"
        assert not anchor or anchor[1:] in anchors(target), f"{name_of(page)}: {path}{anchor} names no heading"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=name_of)
def test_every_page_can_be_found_from_the_readme(page: Path) -> None:
    """Nobody looks into a directory for pages."""
    assert f"(docs/{page.name})" in text_of(ROOT / "README.md")


def exit_codes() -> set[int]:
    """Every exit code: those of answers, one for each kind of error, and that of an interrupted command."""
    kinds = [
        found for found in vars(errors).values() if isinstance(found, type) and issubclass(found, errors.PolicyError)
    ]
    return {0, errors.FOUND, errors.INCOMPLETE, errors.INTERRUPTED} | {kind.exit_code for kind in kinds}


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "output.md"], ids=name_of)
def test_every_exit_code_is_documented(page: Path) -> None:
    """And no other."""
    rows = re.findall(r"^\| (\d+) \|", section(page, "Exit codes"), re.MULTILINE)
    assert {int(code) for code in rows} == exit_codes()


def test_the_fields_of_profiles_are_documented_as_they_are_declared() -> None:
    """`python -m tests.profiles.reference` writes the tables."""
    page = text_of(reference.DOCUMENTATION)
    assert reference.documentation(page) == page
    assert set(re.findall("<!-- fields: (.+) -->", page)) == reference.tables().keys()


def test_every_allowed_value_of_a_profile_is_documented() -> None:
    """A reader chooses from the whole list."""
    values = {value for part in parts_of(reference.json_schema()) for value in part.get("enum", ())}
    fields = section(ROOT / "docs" / "profiles.md", "The fields").replace('`"', "`").replace('"`', "`")
    assert [value for value in sorted(values) if f"`{value}`" not in fields] == []


def parts_of(part: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 (a part of a schema)
    """A schema and every schema within it."""
    if isinstance(part, dict):
        found = cast("dict[str, Any]", part)
        yield found
        for child in found.values():
            yield from parts_of(child)


def test_the_profile_in_the_documentation_is_the_one_that_it_uses() -> None:
    """What a reader copies is what the answer below it was given with."""
    example = next(content for language, content in blocks(ROOT / "docs" / "profiles.md") if language == "yaml")
    used = text_of(ROOT / "fixtures" / "profiles" / "limits.example.net.yaml")
    assert used.partition("\n")[2] == example


def options_of(help_text: str) -> set[str]:
    """The options that a help text lists, each with its short form."""
    listed = help_text.partition("\n  Connection options of kubectl")[0]
    entries = re.findall(r"^  (-.*?)(?:  .*)?$", listed, re.MULTILINE)
    return {option for entry in entries for option in re.findall(r"(?<!\S)--?[a-zA-Z]+(?:-[a-z]+)*", entry)}


def test_every_command_and_option_is_documented() -> None:
    """A command has a heading with a table of its options."""
    page = COMMANDS_PAGE
    overview, _ = run("kubectl policy --help")
    groups = overview.partition("--help")[2]
    commands = sorted(re.findall(r"^  (\w[\w-]*)  ", groups, re.MULTILINE))
    assert commands == sorted(COMMANDS)
    assert commands == re.findall(r"^## ([\w-]+)$", text_of(page), re.MULTILINE)
    assert [option for option in options_of(overview) if f"`{option}`" not in text_of(page)] == []
    for command in commands:
        rows = re.findall(r"^\| (`-.*`) \|", section(page, command), re.MULTILINE)
        documented = {option for row in rows for option in re.findall(r"`(-[^`]*)`", row)}
        assert documented == options_of(run(f"kubectl policy {command} --help")[0]) - {"-h", "--help"}


def test_kubectls_flags_are_documented() -> None:
    """Those that the help of a command names at its end, once for all commands."""
    named = run("kubectl policy describe --help")[0].partition("Connection options of kubectl work as well:")[2]
    flags = re.findall(r"--?[a-z][a-z-]*", re.sub(r"\s+", "", named))
    documented = text_of(COMMANDS_PAGE).partition("### Clusters")[2].partition("\n## ")[0]
    assert flags
    assert [flag for flag in flags if f"`{flag}`" not in documented] == []


@pytest.mark.parametrize(("heading", "renderers"), [("Formats", OBJECT_DESCRIPTION), ("Findings", LINT)])
def test_every_format_is_documented(heading: str, renderers: Renderers[Any]) -> None:
    """In the order in which the command names them."""
    rows = re.findall(r"^\| `(\w+)` \|", section(ROOT / "docs" / "output.md", heading), re.MULTILINE)
    assert rows == list(renderers.formats)


@pytest.mark.parametrize(
    ("heading", "read"), [("The config file", [Project]), ("Rules of your own", [Requirement, RouteSelection])]
)
def test_every_key_of_the_config_file_is_documented(heading: str, read: list[type]) -> None:
    """And no other."""
    rows = re.findall(r"^\| (`.*?`) \|", section(ROOT / "docs" / "linting.md", heading), re.MULTILINE)
    keys = [key for row in rows for key in re.findall("`([^`]+)`", row)]
    assert sorted(keys) == sorted(key for each in read for key in file_fields(each))


def rules_table() -> str:
    """The table of rules that completion reads."""
    return "".join(f"{rule.id}\t{rule.name}\t{rule.summary}\n" for rule in RULES)


def commands_page() -> str:
    """`docs/commands.md` with a table of the options of each command, as help describes them."""
    parts = re.split(r"^(## .*)$", text_of(COMMANDS_PAGE), flags=re.MULTILINE)
    for position in range(1, len(parts), 2):
        table = options_in_docs(parts[position].removeprefix("## "))
        parts[position + 1] = re.sub(
            r"^\| option \|.*(?:\n\|.*)+",
            lambda _, table=table: table,
            parts[position + 1],
            count=1,
            flags=re.MULTILINE,
        )
    return "".join(parts)


def options_in_docs(command: str) -> str:
    """The table of the options of a command, in the order of its help."""
    rows = ["| option | value | description |", "|---|---|---|"]
    options = [option for option in build_command(command).params if isinstance(option, TyperOption)]
    shown = [option for option in options if not option.hidden]
    for option in sorted(shown, key=lambda option: HEADINGS.index(option.rich_help_panel or OTHER_OPTIONS)):
        choices = getattr(option.type, "choices", ())
        metavar = "|".join(choices) or option.metavar or ""
        value = f"`{metavar}`".replace("|", r"\|") if metavar else ""
        names = ", ".join(f"`{name}`" for name in all_names(option))
        rows.append(f"| {names} | {value} | {(option.help or '').replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def test_options_are_documented_as_in_help() -> None:
    """`python -m tests.test_docs` writes the tables."""
    assert text_of(COMMANDS_PAGE) == commands_page()


def options_table() -> str:
    """The table of options that completion reads."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for command in COMMANDS:
        for option in build_command(command).params:
            if isinstance(option, TyperOption):
                number = "flag" if option.is_flag else "repeatable" if option.multiple else "once"
                choices = getattr(option.type, "choices", ())
                metavar = f"[{'|'.join(choices)}]" if choices else option.metavar or ""
                heading = option.rich_help_panel or OTHER_OPTIONS
                row = (option.name or "", ",".join(all_names(option)), number, heading, metavar, option.help or "")
                rows.setdefault(row, []).append(command)
    return "".join("\t".join((",".join(commands), *row)) + "\n" for row, commands in rows.items())


def test_every_option_is_completed() -> None:
    """`python -m tests.test_docs` writes the table of options."""
    assert OPTIONS_TABLE.read_text("utf-8") == options_table()


def test_every_rule_is_documented() -> None:
    """`python -m tests.test_docs` writes the page, and the table that completion reads."""
    assert text_of(RULES_PAGE) == rules_page.page()
    assert RULES_TABLE.read_text("utf-8") == rules_table()


def test_the_version_and_kinds_of_documents_are_documented() -> None:
    """What a script checks first."""
    described = section(ROOT / "docs" / "output.md", "JSON and YAML")
    for wanted in (API_VERSION, "ObjectDescription", "PolicyDescription", "StatusComparison", "EffectExplanation"):
        assert f"{wanted}`" in described


def test_the_profile_in_the_readme_is_valid(tmp_path: Path) -> None:
    """What a reader copies from the first page works."""
    (example,) = (
        text for language, text in blocks(ROOT / "README.md") if language == "yaml" and text.startswith("group")
    )
    file = tmp_path / "retry.yaml"
    file.write_text(example, "utf-8")
    assert [(str(found.group_kind), found.strategy) for found in load_profiles(file)] == [
        ("RetryPolicy.example.io", "Patch defaults")
    ]


def code_names(page: Path) -> list[str]:
    """The names in code that a page's tables map words to: last cells of the glossary, first ones of the types."""
    if page.name == "glossary.md":
        cells = re.findall(r"^\| .* \| ([^|]*) \|$", text_of(page).partition("\n## ")[0], re.MULTILINE)
    else:
        cells = re.findall(r"^\| ([^|]*) \|", section(page, "The central types"), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([A-Z][\w.]*)`", cell)]


@pytest.mark.parametrize("page", [ROOT / "docs" / "glossary.md", ROOT / "docs" / "architecture.md"], ids=name_of)
def test_the_names_in_code_exist(page: Path) -> None:
    """A renamed class or field would leave the glossary behind."""
    names = code_names(page)
    assert len(names) > 15
    for name in names:
        owner, _, member = name.partition(".")
        assert re.search(rf"^(class {owner}\b|{owner}: TypeAlias)", SOURCE, re.MULTILINE), f"there is no {owner}"
        assert re.search(rf"^    (def )?{member}\b", SOURCE, re.MULTILINE), f"there is no {name}"


def test_the_functions_on_the_ways_through_the_code_exist() -> None:
    """A way is shown in at most ten steps, each of which names functions with their module."""
    ways = section(ROOT / "docs" / "architecture.md", "Three ways through the code").split("### ")[1:]
    assert len(ways) == len(re.findall("The way of", "".join(ways))) == 3
    for way in ways:
        steps = re.split(r"^\d+\. ", way, flags=re.MULTILINE)[1:]
        assert 5 <= len(steps) <= 10
        named = [(name, module) for names, module in STEP.findall(way) for name in re.findall(r"`([\w.]+)`", names)]
        assert len(named) >= len(steps)
        for name, module in named:
            source = (PACKAGE / module).read_text("utf-8")
            assert re.search(rf"\b(def|class) {name.rpartition('.')[2]}\b", source), f"{module} has no {name}"


def test_every_layer_is_described() -> None:
    """The table of layers has every package and top-level module."""
    modules = {path.stem for path in PACKAGE.iterdir() if not path.name.startswith("_") and path.suffix in {"", ".py"}}
    table = section(ROOT / "docs" / "architecture.md", "The layers")
    assert modules - set(re.findall(r"`(\w+)`", table)) == set()


if __name__ == "__main__":
    OPTIONS_TABLE.write_text(options_table(), "utf-8")
    RULES_TABLE.write_text(rules_table(), "utf-8")
    RULES_PAGE.write_text(rules_page.page(), "utf-8")
    COMMANDS_PAGE.write_text(commands_page(), "utf-8")
    for shown in PAGES:
        shown.write_text(with_real_output(shown), "utf-8")
