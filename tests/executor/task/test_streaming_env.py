"""The environment of a filter, name by name, as PipeMapRed makes it."""

from __future__ import annotations

from pathlib import Path

from heterodoop.executor.task.split import Split
from heterodoop.executor.task.streaming_env import TaskNames, job_environment, task_environment, variable_name
from heterodoop.storage.local import InputFile

MAP = TaskNames("job_1_0001", True, 7, 2, Path("/out"), Path("/tmp/t"), Split(InputFile("/a b/\udcff", 90), 10, 20))


def table(pairs: list[bytes]) -> dict[bytes, bytes]:
    split = [pair.partition(b"=")[::2] for pair in pairs]
    assert len(dict(split)) == len(split), "a name appears twice"
    return dict(split)


def test_names_keep_letters_and_digits_only():
    assert variable_name("stream.num-x.é1") == "stream_num_x__1"


def test_a_map_task_is_told_its_split():
    env = table(task_environment(MAP))
    for name in (b"mapreduce_map_input_file", b"map_input_file"):
        assert env[name] == b"file:/a b/\xff"
    assert env[b"mapreduce_map_input_start"] == env[b"map_input_start"] == b"10"
    assert env[b"mapreduce_map_input_length"] == env[b"map_input_length"] == b"20"
    assert env[b"mapreduce_task_attempt_id"] == env[b"mapred_task_id"] == b"attempt_1_0001_m_000007_2"
    assert env[b"mapreduce_task_id"] == env[b"mapred_tip_id"] == b"task_1_0001_m_000007"
    assert env[b"mapreduce_task_partition"] == env[b"mapred_task_partition"] == b"7"
    assert env[b"mapreduce_task_ismap"] == env[b"mapred_task_is_map"] == b"true"
    assert env[b"mapreduce_task_output_dir"] == env[b"mapred_work_output_dir"] == b"/out"
    assert env[b"TMPDIR"] == b"/tmp/t"


def test_a_reduce_task_has_no_split():
    env = table(task_environment(TaskNames("job_1_0001", False, 0, 0, Path("/o"), Path("/t"))))
    assert env[b"mapreduce_task_attempt_id"] == b"attempt_1_0001_r_000000_0"
    assert env[b"mapreduce_task_ismap"] == b"false"
    assert not any(b"input" in name for name in env)


def test_settings_win_over_the_users_environment_and_have_their_old_names_too():
    user = {b"LC_ALL": b"de_DE.UTF-8", b"a_b": b"mine", b"x": b"\xff"}
    env = table(job_environment(user, {"a.b": "job", "mapreduce.job.reduces": "3"}, -1))
    assert env == {b"LC_ALL": b"de_DE.UTF-8", b"a_b": b"job", b"x": b"\xff", b"mapreduce_job_reduces": b"3",
                   b"mapred_reduce_tasks": b"3"}


def test_the_tasks_own_names_are_left_to_the_task():
    conf = {"mapreduce.map.input.file": "/forged", "mapreduce.task.id": "x"}
    user = {b"TMPDIR": b"/var", b"map_input_file": b"/old", b"A": b"1"}
    assert job_environment(user, conf, -1) == [b"A=1"]


def test_long_values_are_cut_at_the_limit():
    assert job_environment({b"u": b"123456"}, {"k": "123456"}, 3) == [b"u=123456", b"k=123"]
    assert job_environment({}, {"k": "123456"}, -1) == [b"k=123456"]


def test_more_environment_as_with_cmdenv():
    env = table(job_environment({b"A": b"0"}, {"stream.addenvironment": "A=1  B=x=y C"}, -1))
    assert (env[b"A"], env[b"B"], env[b"C"]) == (b"1", b"x=y", b"")


def test_what_cannot_be_passed_is_left_out():
    assert job_environment({}, {"k": "a\0b"}, -1) == []
