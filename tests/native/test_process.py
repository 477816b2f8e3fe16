"""Running a filter: ends, exec errors, pipes that never block each other, what a child inherits, and what outlives it."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native, Progress, TaskStatus

from ..support import alive, gone
from .conftest import Compile, RunMap

NEVER_READS = """
#include <stdio.h>
int main(void) { for (int i = 0; i < 10000; i++) printf("key%d\\t%d\\n", i % 10, i); return 0; }
"""
SHOWS_ITS_STATE = """
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
  int fds = 0, ignored = 0, blocked = 0, death = 0;
  DIR *d = opendir("/proc/self/fd");
  for (struct dirent *e; (e = readdir(d));) if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d)) fds++;
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int s = 1; s < 65; s++) {
    struct sigaction a;
    if (sigaction(s, NULL, &a) == 0 && a.sa_handler != SIG_DFL) ignored++;
    if (sigismember(&mask, s) == 1) blocked++;
  }
  prctl(PR_GET_PDEATHSIG, &death);
  printf("fds %d ignored %d blocked %d death %d leader %d\\n", fds, ignored, blocked, death, getpgrp() == getpid());
}
"""
CRASHES = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char line[100];
  while (fgets(line, sizeof line, stdin)) {
    if (line[0] == '!') { fprintf(stderr, "bad record\\n"); if (argc > 1) abort(); exit(3); }
    printf("k\\t%s", line);
  }
  return 0;
}
"""
CLOSES_STDIN = """
#include <stdio.h>
#include <unistd.h>
int main(void) { char c; read(0, &c, 1); close(0); usleep(100000); printf("%c\\t1\\n", c); return 0; }
"""
FLOODS_BOTH = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char block[65536]; memset(block, 'x', sizeof block);
  for (int i = 63; i < 65536; i += 64) block[i] = '\\n';
  for (int i = 0; i < 100; i++) { write(1, block, sizeof block); write(2, block, sizeof block); }
  while (read(0, block, sizeof block) > 0) {}
}
"""


def test_a_filter_that_never_reads_is_fine(run_map: RunMap, compile_c: Compile) -> None:
    result, output = run_map([compile_c(NEVER_READS)], b"roses.are.red\n" * 30000)
    assert result.ok, result
    digest = hashlib.sha256(b"".join(sorted(output.splitlines(True)))).hexdigest()
    assert digest == "ad3686d5e1286673cc68b2a645cb96092134d4872a1d5a961dd10c4f985b9b1f"
    assert result.counters["MAP_INPUT_RECORDS"] == 30000  # whatever the pipe's size


def test_a_filter_that_closes_its_stdin_early_is_fine(run_map: RunMap, compile_c: Compile) -> None:
    result, output = run_map([compile_c(CLOSES_STDIN)], b"line\n" * 2_000_000)
    assert (result.status, output) == (TaskStatus.OK, b"l\t1\n")
    assert result.counters["MAP_INPUT_RECORDS"] == 2_000_000


@pytest.mark.parametrize("code", [1, 3, 127, 255])
def test_the_exit_status_fails_the_task(run_map: RunMap, code: int) -> None:
    result, output = run_map(["/bin/sh", "-c", f"cat; exit {code}"], b"a\nb\n")
    assert (result.status, result.exit_code, result.signal) == (TaskStatus.FILTER_FAILED, code, None)
    assert output == b""
    assert result.message == f"map filter /bin/sh failed: exit status {code}"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE, signal.SIGTERM])
def test_a_signal_fails_the_task(run_map: RunMap, number: signal.Signals) -> None:
    result, output = run_map(["/bin/sh", "-c", f"cat; kill -{number.value} $$"], b"a\n")
    assert (result.status, result.exit_code, result.signal) == (TaskStatus.FILTER_FAILED, None, number)
    assert output == b""
    assert f"signal {number.value} (" in result.message


@pytest.mark.parametrize("how", [[], ["abort"]])
def test_output_before_a_crash_is_thrown_away(run_map: RunMap, compile_c: Compile, tmp_path: Path, how: list[str]) -> None:
    result, output = run_map([compile_c(CRASHES), *how], b"a\n!\nb\n")
    assert result.status is TaskStatus.FILTER_FAILED
    assert (result.exit_code, result.signal) == ((None, signal.SIGABRT) if how else (3, None))
    assert result.stderr_tail == "bad record\n"
    assert output == b""
    assert {p.name for p in tmp_path.iterdir()} == {"input", "log"}  # no temporary file either


def test_the_exit_status_can_be_accepted(run_map: RunMap) -> None:
    result, output = run_map(["/bin/sh", "-c", "cat; exit 7"], b"a\nb\n", accept_exit_code=True)
    assert (result.status, output) == (TaskStatus.OK, b"a\t\nb\t\n")


def test_exec_errors_come_back_with_their_number(run_map: RunMap, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("int main;")
    for argv, number in (
        ([str(tmp_path / "none")], errno.ENOENT), ([str(plain)], errno.EACCES), (["/bin"], errno.EACCES),
        ([str(plain) + "/x"], errno.ENOTDIR),
    ):
        result, _ = run_map(argv, b"a\n")
        assert (result.status, result.error_number) == (TaskStatus.SPAWN_FAILED, number), result
        assert argv[0] in result.message and os.strerror(number) in result.message
    plain.chmod(0o755)
    assert run_map([str(plain)], b"a\n")[0].error_number == errno.ENOEXEC
    result, _ = run_map(["/bin/cat"], b"a\n", cwd=tmp_path / "nowhere")
    assert (result.status, result.error_number) == (TaskStatus.SPAWN_FAILED, errno.ENOENT)
    assert "nowhere" in result.message


def test_an_environment_that_is_too_large_is_told_so(run_map: RunMap) -> None:
    env = [f"v{i}=" + "x" * 100_000 for i in range(100)]
    result, _ = run_map(["/bin/cat"], b"a\n", env=env)
    assert (result.status, result.error_number) == (TaskStatus.SPAWN_FAILED, errno.E2BIG)
    assert "environment" in result.message and "bytes" in result.message


def test_what_a_filter_inherits(run_map: RunMap, compile_c: Compile) -> None:
    read, write = os.pipe()
    os.set_inheritable(read, True)  # a careless host program must not leak it
    try:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])
        result, output = run_map([compile_c(SHOWS_ITS_STATE)], b"\n")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(read)
        os.close(write)
    assert result.ok, result
    assert output == b"fds 3 ignored 0 blocked 0 death 9 leader 1\t\n"


def test_environment_and_folder_are_exactly_what_was_said(run_map: RunMap, tmp_path: Path) -> None:
    (tmp_path / "it's (1)").mkdir()
    env = ["A=1 2", b"B=\xff\n", "EMPTY="]
    script = "/usr/bin/env -0 | tr '\\0\\n' '|/'; pwd"
    result, output = run_map(["/bin/sh", "-c", script], b"\n", env=env, cwd=tmp_path / "it's (1)")
    assert result.ok, result
    assert b"A=1 2|" in output and b"B=\xff/|" in output and b"EMPTY=|" in output and b"PATH=" not in output
    assert output.endswith(b"it's (1)\t\n")


def test_floods_on_all_pipes_do_not_block_each_other(run_map: RunMap, compile_c: Compile, tmp_path: Path) -> None:
    result, output = run_map([compile_c(FLOODS_BOTH)], b"0123456789abcde\n" * 400_000)
    assert result.ok, result
    assert result.counters["MAP_OUTPUT_RECORDS"] == 102_400
    assert len(output) == 65 * 102_400
    log = (tmp_path / "log").read_bytes()
    assert (1 << 20) + (64 << 10) < len(log) < (1 << 20) + (65 << 10)
    assert b"bytes of standard error left out" in log


def test_output_lines_end_at_carriage_returns_too(run_map: RunMap) -> None:
    result, output = run_map(["/usr/bin/printf", "a\\t1\\r\\nb\\rc\\t\\t2\\n\\n\\rlast"], b"x\n")
    assert result.ok, result
    assert output == b"a\t1\nb\t\nc\t\t2\n\t\n\t\nlast\t\n"


def test_cancel_kills_the_whole_group_at_once(run_map: RunMap, tmp_path: Path) -> None:
    progress = Progress()
    script = f"sleep 1000 & echo $$ $! > {tmp_path}/pids; wait"
    timer = threading.Thread(target=lambda: (wait_for(tmp_path / "pids"), progress.cancel()))
    timer.start()
    result, output = run_map(["/bin/sh", "-c", script], b"a\n" * 1_000_000, env=["PATH=/usr/bin:/bin"], progress=progress)
    ended = time.monotonic()
    timer.join()
    assert (result.status, output) == (TaskStatus.CANCELLED, b"")
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    assert time.monotonic() - ended < 20


def wait_for(path: Path, seconds: float = 10.0) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        time.sleep(0.01)
    raise AssertionError(f"{path} did not appear")


def test_cancel_while_the_input_pipe_is_silent(run_map: RunMap) -> None:
    read, write = os.pipe()
    progress = Progress()
    timer = threading.Timer(0.2, progress.cancel)
    timer.start()
    begin = time.monotonic()
    try:
        result, _ = run_map(["/bin/cat"], input=read, progress=progress)
    finally:
        os.close(read)
        os.close(write)
    assert result.status is TaskStatus.CANCELLED
    assert time.monotonic() - begin < 20


PARENT = """
import sys
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native
script = f"echo $$ > {sys.argv[3]}; exec sleep 1000"
Native.load().map_task(MapSpec(FilterCommand(["/bin/sh", "-c", script], ["PATH=/usr/bin:/bin"]), sys.argv[1], sys.argv[2]))
"""


def test_killing_the_parent_leaves_no_filter(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    argv = [sys.executable, "-c", PARENT, tmp_path / "in", tmp_path / "out", tmp_path / "pid"]
    parent = subprocess.Popen(argv)
    pid = int(wait_for(tmp_path / "pid"))
    assert alive(pid)
    parent.kill()
    parent.wait()
    assert gone(pid)


def test_a_process_left_behind_that_still_writes_is_waited_for(run_map: RunMap) -> None:
    script = "cat > /dev/null; (for i in 1 2 3 4 5; do sleep 0.2; echo $i; done) & exit 0"
    result, output = run_map(["/bin/sh", "-c", script], b"a\n", env=["PATH=/usr/bin:/bin"], linger_seconds=5)
    assert (result.status, output) == (TaskStatus.OK, b"1\t\n2\t\n3\t\n4\t\n5\t\n")


def test_a_silent_process_that_holds_stdout_fails_the_task(run_map: RunMap, tmp_path: Path) -> None:
    script = f"cat; sleep 1000 & echo $! > {tmp_path}/pid"
    result, output = run_map(["/bin/sh", "-c", script], b"a\n", env=["PATH=/usr/bin:/bin"], linger_seconds=0.3)
    assert (result.status, output) == (TaskStatus.FILTER_FAILED, b"")
    assert "keeps its standard output open" in result.message
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("where", [">/dev/null", ">/dev/null 2>&1"])
def test_a_process_left_behind_without_stdout_is_killed(run_map: RunMap, tmp_path: Path, where: str) -> None:
    begin = time.monotonic()
    script = f"cat; sleep 1000 {where} & echo $! > {tmp_path}/pid"
    result, output = run_map(["/bin/sh", "-c", script], b"a\n", env=["PATH=/usr/bin:/bin"])
    assert (result.status, output) == (TaskStatus.OK, b"a\t\n")
    assert time.monotonic() - begin < 20
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_failed_filter_does_not_wait_for_what_it_left(run_map: RunMap) -> None:
    begin = time.monotonic()
    result, _ = run_map(["/bin/sh", "-c", "sleep 1000 & echo why >&2; exit 4"], b"a\n", env=["PATH=/usr/bin:/bin"])
    assert (result.status, result.exit_code, result.stderr_tail) == (TaskStatus.FILTER_FAILED, 4, "why\n")
    assert time.monotonic() - begin < 20


IGNORES_SIGCHLD = """
import signal, sys
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(Native.load().map_task(MapSpec(FilterCommand(["/bin/cat"]), sys.argv[1], sys.argv[2], reducers=0)).message)
"""


def test_a_host_that_ignores_sigchld_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    argv = [sys.executable, "-c", IGNORES_SIGCHLD, tmp_path / "in", tmp_path / "out"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=20)
    assert "ignores SIGCHLD" in done.stdout


def test_the_end_of_a_filter_is_noticed_at_once(run_map: RunMap) -> None:
    waits = sorted(run_map(["/bin/cat"], b"a\n")[0].seconds["wait"] for _ in range(100))
    assert waits[94] < 0.045  # one poll lasts 0.05 s


def test_a_million_reporter_lines(run_map: RunMap, tmp_path: Path) -> None:
    script = "yes 'reporter:counter:rows,comment,2' | head -n 1000000 >&2; echo done"
    begin = time.monotonic()
    result, output = run_map(["/bin/sh", "-c", script], b"a\n", env=["PATH=/usr/bin:/bin"])
    assert (result.status, output) == (TaskStatus.OK, b"done\t\n")
    assert result.user_counters == {("rows", "comment"): 2_000_000}
    assert not (tmp_path / "log").exists()  # nothing else was printed
    assert time.monotonic() - begin < 20


def test_reporter_lines_are_parsed_as_hadoop_parses_them(run_map: RunMap, tmp_path: Path) -> None:
    stderr = textwrap.dedent("""\
        reporter:counter:g,c,5
        reporter:counter: g,c,-2\r
        reporter:counter:g,c,+1,,
        reporter:counter:,no group,1
        reporter:counter:tab\there,back\\slash \\t,9
        reporter:counter:big,n,9223372036854775807
        reporter:status:  half way
        reporter:status: done \t
        reporter:counter:g,c
        reporter:counter:g,c, 5
        reporter:counter:g,c,5,6
        reporter:counter:g,c,9223372036854775808
        reporter:counter:g,c,+-5
        reporter:other
         reporter:counter:g,c,1
        reporter:counter:g,last,1""")
    (tmp_path / "stderr").write_text(stderr, newline="")
    result, _ = run_map(["/bin/sh", "-c", f"/bin/cat {tmp_path}/stderr >&2"], b"a\n")
    assert result.user_counters == {
        ("g", "c"): 4, ("", "no group"): 1, ("tab\there", "back\\slash \\t"): 9, ("big", "n"): 2**63 - 1, ("g", "last"): 1,
    }
    assert result.status_text == "done"
    logged = (tmp_path / "log").read_text()
    assert logged.splitlines() == stderr.split("\n")[8:15]
    assert result.stderr_tail == logged


def test_the_reporter_prefix_can_be_changed(run_map: RunMap) -> None:
    script = "echo 'R#counter:a,b,1' >&2; echo reporter:counter:a,b,1 >&2"
    result, _ = run_map(["/bin/sh", "-c", script], b"a\n", reporter_prefix="R#")
    assert (result.user_counters, result.stderr_tail) == ({("a", "b"): 1}, "reporter:counter:a,b,1\n")


def test_the_tail_is_twenty_lines_and_survives_odd_bytes(run_map: RunMap, tmp_path: Path) -> None:
    (tmp_path / "stderr").write_bytes(b"".join(b"line %d\n" % i for i in range(99)) + b"end \xff\0")
    result, _ = run_map(["/bin/sh", "-c", f"/bin/cat {tmp_path}/stderr >&2"], b"a\n")
    assert result.stderr_tail.split("\n") == [f"line {i}" for i in range(80, 99)] + ["end \\xff?"]
    (tmp_path / "stderr").write_bytes(b"y" * 100_000)
    result, _ = run_map(["/bin/sh", "-c", f"/bin/cat {tmp_path}/stderr >&2"], b"a\n")
    assert result.stderr_tail == "y" * 4096
    assert (tmp_path / "log").read_bytes() == b"y" * 100_000


def test_many_tasks_side_by_side_leak_nothing(native: Native, tmp_path: Path, run_map: RunMap) -> None:
    (tmp_path / "many").write_bytes(b"a\n" * 1000)
    before = len(os.listdir("/proc/self/fd"))

    def one(i: int) -> int:
        spec = MapSpec(FilterCommand(["/bin/cat"]), tmp_path / "many", tmp_path / f"o{i}", reducers=0)
        return native.map_task(spec).counters["MAP_OUTPUT_RECORDS"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(100))) == [1000] * 100
    assert len(os.listdir("/proc/self/fd")) == before
