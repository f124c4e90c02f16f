"""Jobs: what a program prints, what it may not do, and what is taken from the cache."""

from __future__ import annotations

import posixpath
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import cast

import pytest

from kubectl_policy.sources.files.disk import RepositoriesOnDisk
from kubectl_policy.sources.programs import jobs
from kubectl_policy.sources.programs.cache import Cache
from kubectl_policy.sources.programs.inputs import Inputs
from kubectl_policy.sources.programs.jobs import FOLDER, Job
from kubectl_policy.sources.programs.running import ProgramOutput, Programs, complaint_in
from tests.sources.rendering.trees import SERVICE, program, write

WITH_VALUES = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {k: dg==}\n"


def _job(script: str, *, limit: float = 20.0, codes: tuple[int, ...] = (0,)) -> Job:
    """A shell script without files."""
    nothing = Inputs(RepositoriesOnDisk([]))
    return Job(command=("/bin/sh", "-c", script), inputs=nothing, folder="", limit=limit, codes=codes)


def _run(folder: Path, *scripts: str, limit: float = 20.0) -> list[ProgramOutput]:
    """What scripts print, in their order."""
    numbered = enumerate(_job(script, limit=limit) for script in scripts)
    return [output for _, output in sorted(Programs(folder).run(numbered), key=lambda entry: entry[0])]


def _is_still(beat: Path) -> bool:
    """Whether nobody writes to a file any more."""
    time.sleep(0.1)
    size = beat.stat().st_size
    time.sleep(0.2)
    return 0 < size == beat.stat().st_size


class TestRunning:
    def test_what_programs_print(self, tmp_path: Path) -> None:
        outputs = _run(tmp_path, *(f"echo {number}; echo e{number} >&2" for number in range(9)))
        assert outputs == [ProgramOutput(out=f"{number}\n", err=f"e{number}\n") for number in range(9)]

    def test_two_at_once(self, tmp_path: Path) -> None:
        """Each of two waits for the other; a third one is not taken before one of them has ended."""
        taken: list[int] = []
        wait = f": > {tmp_path}/started%d; until [ -e {tmp_path}/started%d ]; do /bin/sleep 0.01; done"

        def numbered() -> Iterator[tuple[int, Job]]:
            for number, script in enumerate((wait % (0, 1), wait % (1, 0), "echo")):
                taken.append(number)
                yield number, _job(script)

        programs = Programs(tmp_path).run(numbered())
        assert next(programs)[1].complaint == ""
        assert taken == [0, 1]
        assert [output.complaint for _, output in programs] == ["", ""]
        assert taken == [0, 1, 2]

    def test_nothing_is_left(self, tmp_path: Path) -> None:
        tree = RepositoriesOnDisk([str(write(tmp_path / "t", {"a": "1"}))])
        inputs = Inputs(tree)
        inputs.write("x/y", "content\n")
        job = Job(command=("/bin/sh", "-c", f"/bin/cat y {FOLDER}/x/y"), inputs=inputs, folder="x")
        (tmp_path / "home").mkdir()
        (entry,) = Programs(tmp_path / "home").run([("key", job)])
        assert entry == ("key", ProgramOutput(out="content\ncontent\n"))
        assert list((tmp_path / "home").iterdir()) == []

    def test_a_program_that_fails(self, tmp_path: Path) -> None:
        """It says why on standard error; if it says nothing, its code is all that is known."""
        outputs = _run(tmp_path, "echo 'Error: no such file' >&2; exit 1", "exit 7")
        assert [output.complaint for output in outputs] == [
            "no such file",
            "it ended with code 7, and did not say why",
        ]

    def test_a_code_with_which_output_counts(self, tmp_path: Path) -> None:
        ((_, output),) = Programs(tmp_path).run([(0, _job("echo a; echo b >&2; exit 1", codes=(0, 1)))])
        assert output == ProgramOutput(out="a\n", err="b\n")

    def test_names_of_files_in_complaints(self, tmp_path: Path) -> None:
        """Copies have the names of the files that they are copies of."""
        tree = RepositoriesOnDisk([str(write(tmp_path / "t", {"a": "1"}))])
        inputs = Inputs(tree)
        path = tree.path_of(str(tmp_path / "t" / "a")) or ""
        inputs.copy_file(path)
        job = Job(
            command=("/bin/sh", "-c", f"echo '{FOLDER}/{path}: bad' >&2; exit 1"),
            inputs=inputs,
            folder=posixpath.dirname(path),
        )
        ((_, output),) = Programs(tmp_path).run([(0, job)])
        assert output.complaint == f"{tmp_path}/t/a: bad"

    def test_a_program_that_goes_on_for_ever(self, tmp_path: Path) -> None:
        """It is ended with everything that it started."""
        begun = time.monotonic()
        (output,) = _run(tmp_path, f"/bin/sh -c 'while :; do echo >> {tmp_path}/beat; done' & wait", limit=0.5)
        assert output == ProgramOutput(complaint="it took more than 0.5 seconds")
        assert time.monotonic() - begun < 10
        assert _is_still(tmp_path / "beat")

    def test_a_program_that_leaves_another_one_behind(self, tmp_path: Path) -> None:
        """That one holds its streams, and is ended."""
        (output,) = _run(tmp_path, f"(while :; do echo >> {tmp_path}/beat; done) & /bin/sleep 0.2; echo a")
        assert output == ProgramOutput(out="a\n")
        assert _is_still(tmp_path / "beat")

    @pytest.mark.parametrize("redirection", ["", " >&2"])
    def test_a_program_that_prints_for_ever(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redirection: str
    ) -> None:
        """It is ended; what it printed is of no use."""
        monkeypatch.setattr(jobs, "MAX_OUTPUT", 2**20)
        (output,) = _run(tmp_path, f"while :; do echo 0123456789012345678901234567890123456789{redirection}; done")
        assert output == ProgramOutput(complaint="it printed more than 1 MiB")

    def test_a_program_that_is_not_there(self, tmp_path: Path) -> None:
        nothing = Inputs(RepositoriesOnDisk([]))
        ((_, output),) = Programs(tmp_path).run([(0, Job(command=("/nowhere/helm",), inputs=nothing, folder=""))])
        assert output.complaint == "/nowhere/helm cannot be run: No such file or directory"

    def test_files_that_cannot_be_written(self, tmp_path: Path) -> None:
        inputs = Inputs(RepositoriesOnDisk([]))
        inputs.write("a\0b", "")
        ((_, output),) = Programs(tmp_path).run([(0, Job(command=("/bin/ls",), inputs=inputs, folder=""))])
        assert output.complaint == "its files cannot be copied: embedded null byte"

    def test_nobody_asks_for_more(self, tmp_path: Path) -> None:
        """Then what still runs is ended."""
        scripts = [f"while :; do echo >> {tmp_path}/beat; done", f"until [ -s {tmp_path}/beat ]; do :; done"]
        running = Programs(tmp_path).run(enumerate(map(_job, scripts)))
        assert next(running)[0] == 1
        cast("Generator[object]", running).close()
        assert _is_still(tmp_path / "beat")

    def test_an_interrupt(self, tmp_path: Path) -> None:
        """It ends all programs, also where the thread of none is waited for."""
        script = (
            "import sys, tempfile; from pathlib import Path; from tests.sources.programs.test_running import _run\n"
            "try: _run(Path(sys.argv[1]), *[f'while :; do echo >> {sys.argv[1]}/beat; done'] * 2)\n"
            "except KeyboardInterrupt: sys.exit(130)"
        )
        process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])  # noqa: S603 (our own script)
        while not (tmp_path / "beat").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert _is_still(tmp_path / "beat")


class TestCache:
    """`helm` is a script here that counts how often it runs."""

    @pytest.fixture(autouse=True)
    def programs(self, tmp_path: Path) -> Programs:
        script = f'[ "$1" = version ] && echo v3.1.0 && exit; echo >> {tmp_path}/runs; echo w >&2; eval "$1"'
        program(tmp_path, "helm", script)
        return Programs(tmp_path, cache=Cache(tmp_path / "cache"))

    def _job(self, tmp_path: Path, script: str, files: dict[str, str], name: str = "t") -> Job:
        tree = RepositoriesOnDisk([str(write(tmp_path / name, files))])
        inputs = Inputs(tree)
        top = tree.path_of(str(tmp_path / name)) or ""
        inputs.copy_folder(top)
        return Job(
            command=(str(tmp_path / "helm"), script.replace("TOP", f"{FOLDER}/{top}")), inputs=inputs, folder=top
        )

    def _runs(self, tmp_path: Path) -> int:
        path = tmp_path / "runs"
        return len(path.read_text("utf-8")) if path.exists() else 0

    def test_equal_files_are_rendered_once(self, tmp_path: Path, programs: Programs) -> None:
        """In another folder as well, and by another process."""
        job = self._job(tmp_path, "cat TOP/a", {"a": "1\n"})
        assert list(programs.run([("x", job)])) == [("x", ProgramOutput(out="1\n", err="w\n"))]
        elsewhere = self._job(tmp_path, "cat TOP/a", {"a": "1\n"}, "other")
        later = Programs(tmp_path, cache=Cache(tmp_path / "cache"))
        assert list(later.run([("y", elsewhere)])) == [("y", ProgramOutput(out="1\n", err="w\n"))]
        assert self._runs(tmp_path) == 1

    @pytest.mark.parametrize(
        ("script", "files"),
        [("cat TOP/a", {"a": "2\n"}), ("cat a", {"a": "1\n"}), ("cat TOP/a", {"a": "1\n", "b": ""})],
        ids=["content", "command", "paths"],
    )
    def test_other_files_or_commands(
        self, tmp_path: Path, programs: Programs, script: str, files: dict[str, str]
    ) -> None:
        list(programs.run([(0, self._job(tmp_path, "cat TOP/a", {"a": "1\n"}))]))
        list(programs.run([(0, self._job(tmp_path, script, files, "other"))]))
        assert self._runs(tmp_path) == 2

    def test_another_version(self, tmp_path: Path, programs: Programs) -> None:
        job = self._job(tmp_path, "cat TOP/a", {"a": "1\n"})
        list(programs.run([(0, job)]))
        program(tmp_path, "helm", '[ "$1" = version ] && echo v4.0.0 && exit; echo 2')
        later = Programs(tmp_path, cache=Cache(tmp_path / "cache"))
        assert list(later.run([(0, job)])) == [(0, ProgramOutput(out="2\n"))]

    def test_failures_are_not_kept(self, tmp_path: Path, programs: Programs) -> None:
        job = self._job(tmp_path, "exit 1", {})
        outputs = [next(programs.run([(0, job)]))[1] for _ in range(2)]
        assert [output.complaint for output in outputs] == ["w", "w"]
        assert self._runs(tmp_path) == 2

    def test_nothing_is_kept_with_network(self, tmp_path: Path) -> None:
        networked = Programs(tmp_path, cache=Cache(tmp_path / "cache"), network=True)
        for _ in range(2):
            list(networked.run([(0, self._job(tmp_path, "echo", {}))]))
        assert self._runs(tmp_path) == 2

    def test_values_of_secrets_are_not_kept(self, tmp_path: Path, programs: Programs) -> None:
        """They are not in what is returned either, so that the first time is as all others."""
        job = self._job(tmp_path, "cat a", {"a": f"{SERVICE % 'x'}---\n{WITH_VALUES}"})
        short = '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}\n'
        for _ in range(2):
            ((_, output),) = programs.run([(0, job)])
            assert output.out == f"{SERVICE % 'x'}---\n{short}"
        assert self._runs(tmp_path) == 1

    def test_a_secret_that_cannot_be_read_is_not_kept(self, tmp_path: Path, programs: Programs) -> None:
        job = self._job(tmp_path, "cat a", {"a": f"{WITH_VALUES}x: [\n"})
        for _ in range(2):
            ((_, output),) = programs.run([(0, job)])
            assert output.out == f"{WITH_VALUES}x: [\n"
        assert self._runs(tmp_path) == 2

    def test_names_of_files_where_they_are_now(self, tmp_path: Path, programs: Programs) -> None:
        """What is kept names files as they are called in the tree that is rendered."""
        for name in ("one", "two"):
            job = self._job(tmp_path, "echo TOP/a: old >&2", {"a": "1\n"}, name)
            ((_, output),) = programs.run([(0, job)])
            assert output.err == f"w\n{tmp_path}/{name}/a: old\n"
        assert self._runs(tmp_path) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", ""),
        ("# Warning: 'bases' is deprecated\n\nerror: no such file\nmore", "no such file"),
        ('E1122 12:27:27.777968   18879 run.go:72] "command failed" err="no \\"x\\""', 'no "x"'),
        ('E1122 12:27:27.777968   18879 run.go:72] "command failed" err=<\n\tno patch:\n\tx: 1\n >', "no patch: x: 1"),
        ("WARNING: Kubernetes configuration file is group-readable\nError: chart not found", "chart not found"),
        ("2026/01/01 10:00:00 Starlark failed to allocate 4GB\nError: chart not found", "chart not found"),
        ("x" * 500 + "y" * 500, "x" * 100 + " … " + "y" * 300),
        ("# only\n# comments", ""),
    ],
)
def test_what_is_taken_from_complaints(text: str, complaint: str) -> None:
    """The line of an error, or the first one that says something, without what programs write around it."""
    assert complaint_in(text) == complaint
