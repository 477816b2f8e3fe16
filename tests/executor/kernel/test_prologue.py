"""What the code before a region hands to a kernel: read strictly, laid out for the device, or the reason why not."""

from __future__ import annotations

import os
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.kernel.prologue import LiveIns, Prologues, Relocation, WrittenObject, place, read_objects
from heterodoop.executor.native.runtime import FilterCommand, Native, Progress
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import Kernel, PrologueRuns, SharedVar

WRITE = r"""
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void put(const void *p, unsigned long n) {
  unsigned long head[2] = {(unsigned long)p, n};
  if (write(3, head, 16) != 16 || write(3, p, n) != (long)n) _exit(9);
}
"""
Build = Callable[[str], Path]


def kernel(*shared: SharedVar, size: int = 32, runs: PrologueRuns = "each", prologue: str = "bin/map.prologue") -> Kernel:
    return Kernel("cuda/map.cu", "hd_map", 128, 0, 0, 0, 0, size, 0, shared, prologue, runs, KernelPlan(), ())


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The body of main -> a prologue; `put` writes an object."""
    folder = tmp_path_factory.mktemp("prologues")

    def make(body: str) -> Path:
        path = folder / f"p{len(list(folder.iterdir()))}"
        source = f"{WRITE}\nint main(void) {{ {body} _exit(0); }}"
        subprocess.run(["gcc", "-w", "-x", "c", "-", "-o", path], input=source.encode(), check=True)
        return path

    return make


@pytest.fixture
def go(tmp_path: Path) -> Callable[..., LiveIns]:
    """Run a prologue as a task would; the working folder holds a file `table`, as a link."""
    (tmp_path / "work").mkdir()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "numbers").write_text("1 2 3\n")
    (tmp_path / "work" / "table").symlink_to(tmp_path / "numbers")
    shared_runs = Prologues(Native.load())

    def run(kernel: Kernel, program: Path, progress: Progress | None = None, **options: list[bytes]) -> LiveIns:
        command = FilterCommand([program], options.get("env", []), tmp_path / "work")
        return shared_runs.live_ins(kernel, program, command, tmp_path / "scratch", progress or Progress())

    return run


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(DeviceError) as caught:
        call()
    assert caught.value.code == "HD410"
    return caught.value.message


INT = SharedVar("n", "scalar", 0, 4)
TABLE = SharedVar("table", "object", 8, 12)


def test_scalars_go_into_the_block_and_objects_to_the_device(go, build) -> None:
    program = build("int n = 7, table[3] = {1, 2, 3}; put(&n, 4); put(table, 12);")
    live = go(kernel(INT, TABLE), program)
    assert live.shared == struct.pack("<i", 7) + bytes(28)
    assert live.objects == (struct.pack("<3i", 1, 2, 3) + GAP,) and live.relocations == (Relocation(0, 8, 0),)


def test_a_kernel_without_live_ins_runs_nothing(go) -> None:
    assert go(kernel(prologue="", size=1), Path("/nonexistent")) == LiveIns(b"\0")


def test_a_table_read_from_a_file_behind_a_pointer(go, build) -> None:
    """Centroids, say: a count, an array in the parameter block, memory from malloc, and a pointer into its middle."""
    program = build(r"""
      FILE *f = fopen("table", "r"); int n = 0, v, first[2]; int *all = malloc(400);
      while (fscanf(f, "%d", &v) == 1) all[n++] = v;
      first[0] = all[0]; first[1] = all[1];
      int *middle = all + 1;
      put(&n, 4); put(first, 8); put(&middle, 8); put(all, malloc_usable_size(all));""")
    heap = SharedVar("*all", "heap", -1, 0)
    live = go(kernel(INT, SharedVar("first", "array", 4, 8), SharedVar("middle", "pointer", 16, 8), heap), program)
    assert struct.unpack_from("<iii", live.shared) == (3, 1, 2) and live.shared[16:24] == bytes(8)
    (size,) = struct.unpack_from("<Q", live.objects[0])  # which a kernel finds before the memory
    assert size >= 400 and len(live.objects[0]) == HEAD + size + len(GAP)
    assert live.objects[0][HEAD : HEAD + 12] == struct.pack("<3i", 1, 2, 3)
    assert live.relocations == (Relocation(0, 16, HEAD + 4),)


def test_the_task_environment_is_the_programs(go, build) -> None:
    program = build('int n = atoi(getenv("grep_n")); put(&n, 4);')
    assert go(kernel(INT), program, env=[b"grep_n=41"]).shared[:4] == struct.pack("<i", 41)


def test_stdin_is_empty_and_the_folder_is_its_own(go, build, tmp_path: Path) -> None:
    program = build('int n = getchar(); fclose(fopen("left", "w")); put(&n, 4);')
    assert go(kernel(INT), program).shared[:4] == struct.pack("<i", -1)
    assert not (tmp_path / "work" / "left").exists() and not list((tmp_path / "scratch").iterdir())


def counted(tmp_path: Path, body: str) -> str:
    """A prologue's body that leaves a mark when it runs, and hands over `n`."""
    return f'FILE *f = fopen("{tmp_path}/count", "a"); fputs("x", f); fclose(f); int n = 1; {body} put(&n, 4);'


def runs_so_far(tmp_path: Path) -> int:
    return len((tmp_path / "count").read_text())


def test_only_a_pure_prologue_is_kept_for_the_job(go, build, tmp_path: Path) -> None:
    program = build(counted(tmp_path, ""))
    for often, runs in (("once", 1), ("each", 4)):
        for _ in range(3):
            go(kernel(INT, runs=often), program)
        assert runs_so_far(tmp_path) == runs


def asking(questions: bytes) -> str:
    """C that hands over these questions behind `n`."""
    text = "".join(f"\\{byte:03o}" for byte in questions)
    return f'put(&n, 4); static char asked[] = "{text}"; put(asked, sizeof asked - 1); _exit(0);'


def test_the_same_answers_of_the_environment_serve_another_task(go, build, tmp_path: Path) -> None:
    program = build(counted(tmp_path, 'if (getenv("p")) n = atoi(getenv("p"));' + asking(b"ep\0eq\0")))
    often = kernel(INT, runs="asked")
    for env, result, runs in (([b"p=4", b"task=1"], 4, 1), ([b"p=4", b"task=2"], 4, 1), ([b"p=5"], 5, 2), ([b"p=4"], 4, 2),
                              ([b"p=4", b"q="], 4, 3), ([b"p=5", b"p=4"], 5, 3), ([], 1, 4)):
        assert go(often, program, env=env).shared[:4] == struct.pack("<i", result)
        assert runs_so_far(tmp_path) == runs, env


def old(path: Path, text: str) -> None:
    """Write it, changed a while ago."""
    path.write_text(text)
    os.utime(path, ns=(0, time.time_ns() - 10**9 - len(text)))


def test_the_same_files_serve_another_task(go, build, tmp_path: Path) -> None:
    body = 'FILE *t = fopen("table", "r"); if (t) { fscanf(t, "%d", &n); fclose(t); }'
    program, often = build(counted(tmp_path, body + asking(b"ftable\0"))), kernel(INT, runs="asked")
    for text, result, runs in (("7 2 3\n", 7, 1), (None, 7, 1), ("8 2 3\n", 8, 2), (None, 8, 2), ("81 2 3\n", 81, 3)):
        if text is not None:
            (tmp_path / "numbers").unlink()
            old(tmp_path / "numbers", text)
        assert go(often, program).shared[:4] == struct.pack("<i", result) and runs_so_far(tmp_path) == runs
    (tmp_path / "work" / "table").unlink()
    assert go(often, program).shared[:4] == go(often, program).shared[:4] == struct.pack("<i", 1)
    assert runs_so_far(tmp_path) == 4


def test_a_file_that_changes_at_that_time_is_asked_again(go, build, tmp_path: Path) -> None:
    program, often = build(counted(tmp_path, asking(b"ftable\0"))), kernel(INT, runs="asked")
    os.utime(tmp_path / "numbers", ns=(0, time.time_ns() + 10**9))
    for runs in (1, 2):
        go(often, program)
        assert runs_so_far(tmp_path) == runs


@pytest.mark.parametrize("question", [
    b"f/dev/null\0", b"fempty\0", b"f../count\0", b"f\0", b"x\0", b"ep", b"f/proc/self/stat\0", b"ftable/none\0",
])
def test_what_the_answers_do_not_tell_is_asked_each_time(go, build, tmp_path: Path, question: bytes) -> None:
    (tmp_path / "work" / "empty").touch()
    program, often = build(counted(tmp_path, asking(question))), kernel(INT, runs="asked")
    for runs in (1, 2, 3):
        go(often, program)
        assert runs_so_far(tmp_path) == runs


def test_a_prologue_that_notes_nothing_is_not_as_agreed(go, build) -> None:
    assert "what it asked for is missing or cut short" in refusal(lambda: go(kernel(INT, runs="asked"), build(
        "int n = 0; put(&n, 4);")))


def test_one_that_asks_something_new_in_each_task_keeps_a_few_results_only(go, build, tmp_path: Path) -> None:
    program, often = build(counted(tmp_path, 'n = atoi(getenv("task"));' + asking(b"etask\0"))), kernel(INT, runs="asked")
    for number in range(40):
        assert go(often, program, env=[b"task=%d" % number]).shared[:4] == struct.pack("<i", number)
    go(often, program, env=[b"task=39"])
    assert runs_so_far(tmp_path) == 40
    go(often, program, env=[b"task=0"])
    assert runs_so_far(tmp_path) == 41


@pytest.mark.parametrize(("body", "why"), [
    ("_exit(3);", "failed: exit status 3"),
    ("abort();", "failed: signal 6"),
    ('int n = 0; put(&n, 4); write(1, "head", 4);', "wrote 4 bytes to stdout"),
    ('int n = 0; put(&n, 4); fprintf(stderr, "hm\\n");', "wrote to stderr"),
    ('int n = 0; put(&n, 4); fprintf(stderr, "reporter:counter:a,b,1\\n");', "wrote to stderr"),
    ("", "n is missing or cut short"),
    ("long head[2] = {8, 4}; write(3, head, 16); write(3, head, 3);", "n is missing or cut short"),
    ("long n = 0; put(&n, 8);", "n has 8 bytes, not 4"),
    ("int n = 0; put(&n, 4); put(&n, 4);", "20 bytes follow the last object"),
    ("long head[2] = {8, -1}; write(3, head, 16);", "n is missing or cut short"),
])
def test_what_is_not_as_agreed_keeps_the_task_on_the_cpu(go, build, body: str, why: str) -> None:
    assert why in refusal(lambda: go(kernel(INT), build(body)))


def test_a_prologue_that_is_not_there(go, tmp_path: Path) -> None:
    assert "cannot start" in refusal(lambda: go(kernel(INT), tmp_path / "none"))


def test_a_prologue_that_hangs_can_be_stopped(go, build) -> None:
    progress = Progress()
    timer = threading.Timer(0.2, progress.cancel)
    timer.start()
    begin = time.monotonic()
    assert "could not be run alone" in refusal(lambda: go(kernel(INT), build("for (;;) pause();"), progress))
    timer.join()
    assert time.monotonic() - begin < 20


POINTER = SharedVar("p", "pointer", 0, 8)
HEAD, GAP = 16, bytes(16)  # before memory of the heap, behind every object
A, B = SharedVar("*a", "heap", -1, 0), SharedVar("b", "object", 8, 8)


def laid_out(target: int, *objects: tuple[SharedVar, int, int]) -> LiveIns:
    """A pointer to `target`, with objects of (what, address, size)."""
    given = [WrittenObject(4096, struct.pack("<Q", target)),
             *(WrittenObject(address, bytes(size)) for _, address, size in objects)]
    return place(kernel(POINTER, *(var for var, _, _ in objects)), given)


@pytest.mark.parametrize(("target", "relocation"), [
    (0, None), (1000, Relocation(0, 0, HEAD)), (1015, Relocation(0, 0, HEAD + 15)),
    (1016, Relocation(0, 0, HEAD + 16)),
    (2000, Relocation(1, 0, 0)),
])
def test_pointers_become_object_and_offset(target: int, relocation: Relocation | None) -> None:
    live = laid_out(target, (A, 1000, 16), (B, 2000, 8))
    assert live.relocations == (*([relocation] if relocation else []), Relocation(1, 8, 0))
    assert live.shared[:8] == bytes(8)


def test_a_pointer_to_the_border_of_two_objects_could_mean_either() -> None:
    assert "end of '*a' and the start of 'b'" in refusal(lambda: laid_out(1016, (A, 1000, 16), (B, 1016, 8)))


@pytest.mark.parametrize("target", [1, 999, 1017, 4096, 2**64 - 1])
def test_a_pointer_elsewhere_is_refused(target: int) -> None:
    assert "pointer 'p' leads to memory that is not copied" in refusal(lambda: laid_out(target, (A, 1000, 16)))


def test_memory_behind_null_is_no_object() -> None:
    live = laid_out(0, (A, 0, 0))
    assert live.objects == () and live.relocations == ()


def test_a_texture_is_an_object_with_a_handle_behind_its_address() -> None:
    live = place(kernel(SharedVar("t", "texture", 8, 4, "float32")), [WrittenObject(64, b"abcd")])
    assert live.objects == (b"abcd" + GAP,) and live.shared == bytes(32)
    assert live.relocations == (Relocation(0, 8, 0), Relocation(0, 16, 0, "float32"))


@pytest.mark.parametrize("var", [SharedVar("n", "scalar", 30, 4), SharedVar("n", "scalar", -1, 4)])
def test_nothing_is_written_outside_the_block(var: SharedVar) -> None:
    assert "n lies outside the kernel's 32 parameter bytes" in refusal(lambda: place(kernel(var),
                                                                                     [WrittenObject(64, b"abcd")]))


def test_objects_are_read_in_order() -> None:
    data = struct.pack("<QQ", 5, 1) + b"x" + struct.pack("<QQ", 9, 0)
    assert read_objects([SharedVar("c", "scalar", 0, 1), A], data) == [WrittenObject(5, b"x"), WrittenObject(9, b"")]


def test_a_kernel_is_told_where_a_text_s_object_begins_and_how_large_it_is() -> None:
    """Arguments and the environment lie in one piece; a pointer may lead into its middle."""
    text = SharedVar("*p", "string", 8, 0)
    live = place(kernel(POINTER, text), [WrittenObject(4096, struct.pack("<Q", 1003)), WrittenObject(1000, b"a=b\0c=d\0")])
    assert live.relocations == (Relocation(0, 0, 3), Relocation(0, 8, 0))
    assert live.shared[8:24] == struct.pack("<QQ", 0, 8) and live.objects == (b"a=b\0c=d\0" + GAP,)
    none = place(kernel(POINTER, text), [WrittenObject(4096, bytes(8)), WrittenObject(0, b"")])
    assert none.relocations == () and none.shared[:24] == bytes(24)
