"""What `heterodoop doctor` says of machines that lack this and that; tools and GPUs are stand-ins."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.driver.wire import place
from heterodoop.driver.wire.place import DriverPlace
from heterodoop.executor.gpu import gpus
from heterodoop.hadoop.embedded import jars
from heterodoop.toolchain import nvcc, plugin

from .engine.worker_jobs import DRIVER
from .support import cli_here

Conf = Callable[..., None]
Tool = Callable[..., Path]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a C compiler and nothing else; returns the folder of its programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cc", "as", "ld"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    for name in (
        "CC", "CXX", "CUDA_HOME", "CUDA_PATH", "JAVA_HOME", "MAVEN_HOME", "HADOOP_HOME", "HADOOP_CONF_DIR",
        "CUDA_VISIBLE_DEVICES", "HETERODOOP_NATIVE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HETERODOOP_DRIVER_DIR", str(tmp_path / "driver"))
    monkeypatch.setattr(gpus, "NODES", (str(tmp_path / "nvidiactl"),))
    monkeypatch.setattr(nvcc.find_nvcc, "__defaults__", (os.environ, ()))
    return folder


@pytest.fixture
def tool(machine: Path) -> Tool:
    """Put a program that says something into PATH, or into another folder."""

    def make(name: str, says: str, *, status: int = 0, folder: Path = machine) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def two_gpus(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidiactl").touch()
    (tmp_path / "modules" / "pycuda").mkdir(parents=True)
    (tmp_path / "modules" / "pycuda" / "__init__.py").touch()
    (tmp_path / "modules" / "pycuda" / "driver.py").write_text(DRIVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))


def examine(status: int = 0) -> dict[str, dict[str, str]]:
    """The checks by name, after one on the summary."""
    found = json.loads(cli_here("doctor", "--json", status=status).out)
    assert found["format"] == "heterodoop-doctor-1" and found["cpu_jobs"] == (status == 0)
    checks = {check["name"]: check for check in found["checks"]}
    return {**checks, "gpu_jobs": found["gpu_jobs"]}


def test_a_machine_with_a_c_compiler_alone(machine: Path) -> None:
    found = examine()
    assert {name: check["state"] for name, check in found.items() if name != "gpu_jobs"} == {
        "C compiler": "yes", "C library": "yes", "native runtime": "yes", "host kernels": "no", "cache folder": "yes",
        "nvcc": "no", "GPU context": "none", "CUDA driver": "none", "Java": "none", "Maven": "none", "Hadoop": "none",
        "embedded Hadoop": "none",
        "Hadoop plug-in": found["Hadoop plug-in"]["state"],
        "HDFS packages": found["HDFS packages"]["state"], "GPU driver process": "none", "ResourceManager": "none",
        "NodeManager memory": "none", "container executor": "none",
    }
    assert found["gpu_jobs"] is False and "heterodoop[nvcc]" in found["nvcc"]["help"]
    assert "the CUDA driver's own interface" in found["GPU context"]["text"] and "HADOOP_HOME" in found["Hadoop"]["help"]


def test_in_words(machine: Path) -> None:
    lines = cli_here("doctor").out.decode().splitlines()
    assert lines[0].startswith(f"C compiler          yes  {machine}/cc: ") and lines[-2] == "Jobs can run on the CPU."
    assert "CUDA driver         -    there is no " in "\n".join(lines)
    assert "                         install the NVIDIA driver, if this machine has a GPU" in lines
    assert lines[-1] == "Jobs cannot use a GPU; --device emulated runs kernels on the CPU."


def test_no_c_compiler(machine: Path) -> None:
    (machine / "cc").unlink()
    found = examine(status=5)
    assert found["C compiler"]["text"] == "C compiler not found (looked for $CC, cc, gcc)"
    assert "apt install gcc libc6-dev" in found["C compiler"]["help"]
    assert "Jobs cannot run on the CPU" in cli_here("doctor", status=5).out.decode()


def test_a_c_compiler_that_does_not_compile(tool: Tool, machine: Path, monkeypatch) -> None:
    monkeypatch.setenv("CC", str(tool("broken", "no headers", status=1)))
    assert "failed (exit status 1)" in examine(status=5)["C compiler"]["text"]


def test_host_kernels_need_a_compiler_of_cpp(machine: Path, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = examine()["host kernels"]
    assert found["text"] == "C++ compiler not found: g++; without them tasks on the CPU run as filters"
    assert "install g++" in found["help"]
    monkeypatch.setenv("CXX", str(tool("odd", "no headers", status=1)))
    found = examine()["host kernels"]
    assert found["state"] == "no" and "/odd does not compile a program: exit status 1; without them" in found["text"]
    monkeypatch.setenv("CXX", str(tool("c++", "a compiler of C++")))
    said = "a compiler of C++ (maps with combiners, and reducers, as programs of their own)"
    assert examine()["host kernels"]["text"].endswith(f"/c++: {said}")


def test_no_native_runtime(machine: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HETERODOOP_NATIVE", str(tmp_path / "none.so"))
    found = examine(status=5)["native runtime"]
    assert found["state"] == "no" and "python -m heterodoop.toolchain.native" in found["help"]


def test_where_nvcc_is_from(tool: Tool, machine: Path, monkeypatch, tmp_path: Path) -> None:
    tool("nvcc", "Cuda compilation tools, release 12.4, V12.4.1")
    assert examine()["nvcc"] == {"name": "nvcc", "state": "yes", "text": f"{machine}/nvcc, CUDA 12.4", "help": ""}
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "nowhere"))
    found = examine()["nvcc"]
    assert found["state"] == "no" and found["help"] == "correct CUDA_HOME"


def test_java_and_hadoop(tool: Tool, machine: Path, monkeypatch, tmp_path: Path) -> None:
    tool("java", "openjdk 17.0.2")
    tool("hadoop", "Hadoop  3.4.2", folder=tmp_path / "hadoop" / "bin")
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path / "hadoop"))
    found = examine()
    assert found["Java"]["text"] == f"{machine}/java: openjdk 17.0.2"
    assert found["Hadoop"]["text"] == f"{tmp_path}/hadoop/bin/hadoop: Hadoop 3.4.2"
    tool("hadoop", "JAVA_HOME is not set", status=1, folder=tmp_path / "hadoop" / "bin")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    found = examine()
    assert found["Hadoop"]["text"].endswith("version fails: JAVA_HOME is not set") and found["Hadoop"]["state"] == "no"
    assert found["Java"]["state"] == "no" and found["Java"]["help"] == "correct JAVA_HOME"


def test_the_embedded_hadoop(tool: Tool, machine: Path) -> None:
    tool("java", 'openjdk version "17.0.2"')
    assert examine()["embedded Hadoop"]["text"] == "its jars are not here yet"
    lib = jars.folder(jars.release("3.4.2"))
    lib.mkdir(parents=True)
    assert examine()["embedded Hadoop"]["text"] == "its jars are not here yet", "without their sums"
    (lib / "one.jar").write_bytes(b"PK")
    (lib.parent / jars._SUMS).write_text(jars._sums(lib), encoding="ascii")
    assert examine()["embedded Hadoop"]["text"] == "jars of 3.4.2, Java 17"
    tool("java", 'openjdk version "11.0.2"')
    found = examine()["embedded Hadoop"]
    assert found["state"] == "no" and found["text"] == f"{machine}/java is Java 11; Java 17 or newer is needed"


def test_the_plug_in_for_hadoop(tool: Tool, machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plugin, "JAR", tmp_path / "heterodoop-mr.jar")
    found = examine()["Hadoop plug-in"]
    assert found["state"] == "none" and "cannot be" in found["text"] and "openjdk-17-jdk-headless" in found["help"]
    tool("javac", "javac 17")
    tool("mvn", "Apache Maven 3")
    found = examine()["Hadoop plug-in"]
    assert found["text"] == "it is not built yet" and "heterodoop.toolchain.plugin" in found["help"]
    (tmp_path / "heterodoop-mr.jar").touch()
    assert examine()["Hadoop plug-in"] == {
        "name": "Hadoop plug-in", "state": "yes", "text": str(tmp_path / "heterodoop-mr.jar"), "help": "",
    }


@pytest.fixture
def conf(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write Hadoop's configuration."""
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "conf"))

    def write(**settings: str) -> None:
        (tmp_path / "conf").mkdir(exist_ok=True)
        rows = (f"<property><name>{n.replace('__', '.')}</name><value>{v}</value></property>" for n, v in settings.items())
        (tmp_path / "conf" / "yarn-site.xml").write_text(f"<configuration>{''.join(rows)}</configuration>")

    return write


@pytest.mark.parametrize(("settings", "state", "text"), [
    ({}, "no", "at 0.0.0.0 it takes jobs from everybody who can reach it"),
    ({"yarn__resourcemanager__hostname": "master"}, "no", "at master it takes jobs from everybody"),
    ({"yarn__resourcemanager__address": "10.0.0.1:8032"}, "no", "at 10.0.0.1 it takes jobs"),
    ({"yarn__resourcemanager__hostname": "localhost"}, "yes", "localhost: this machine's users alone"),
    ({"yarn__resourcemanager__hostname": "localhost", "yarn__resourcemanager__bind-host": "0.0.0.0"}, "no", "at 0.0.0.0"),
    ({"yarn__resourcemanager__hostname": "m", "hadoop__security__authentication": "kerberos"}, "yes", "m, with Kerberos"),
])
def test_who_can_reach_the_resource_manager(
    conf: Conf, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], state: str, text: str,
) -> None:
    conf(**settings)
    monkeypatch.setenv("KRB5CCNAME", "FILE:/none")
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", "FILE:/none")
    all_of_them = examine()
    found = all_of_them["ResourceManager"]
    assert ("Kerberos ticket" in all_of_them) == text.endswith("with Kerberos")
    if ticket := all_of_them.get("Kerberos ticket"):
        assert ticket["state"] == "no" and "login by Kerberos: " in ticket["text"] and ticket["help"]
    assert (found["state"], found["text"][: len(text)]) == (state, text)
    assert ("kerberos" in found["help"]) == (state == "no")


@pytest.mark.parametrize(("given", "state", "text"), [
    ("1024", "yes", "are left for the driver"), ("99999999", "no", "the driver needs about 5120"),
    ("-1", "yes", "Hadoop decides"),
])
def test_what_the_node_manager_leaves(conf: Conf, given: str, state: str, text: str) -> None:
    conf(**{"yarn__nodemanager__resource__memory-mb": given})
    found = examine()["NodeManager memory"]
    assert found["state"] == state and text in found["text"]


@pytest.mark.parametrize(("settings", "text"), [
    ({}, "DefaultContainerExecutor: containers of all users run as the NodeManager's user"),
    ({"yarn__nodemanager__container-executor__class": "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor"},
     "LinuxContainerExecutor: a driver serves the tasks of the one user"),
])
def test_whose_tasks_a_driver_serves(conf: Conf, settings: dict[str, str], text: str) -> None:
    conf(**settings)
    assert examine()["container executor"]["text"].startswith(text)


def test_the_gpu_driver_process(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "driver"
    monkeypatch.setenv("HETERODOOP_DRIVER_DIR", str(folder))
    assert "heterodoop driver start" in examine()["GPU driver process"]["help"]
    folder.mkdir(0o755)
    found = examine()["GPU driver process"]
    assert found["state"] == "no" and "has mode 0755" in found["text"]
    folder.chmod(0o700)
    assert examine()["GPU driver process"]["text"] == f"none runs in {folder}"
    with place.locked(DriverPlace(folder, 0)), place.locked(DriverPlace(folder, 8041)):
        found = examine()["GPU driver process"]
    assert found["state"] == "yes" and found["text"].startswith(f"in {folder}: pid {os.getpid()}, since 20")
    assert f"; pid {os.getpid()} for the NodeManager of port 8041, since 20" in found["text"]
    assert found["text"].endswith("; `heterodoop run` does without it: none runs")  # it holds the lock and has no socket


def test_a_configuration_that_cannot_be_read(conf: Conf) -> None:
    found = examine()["Hadoop configuration"]
    assert found["state"] == "no" and "no such folder" in found["text"]


def test_gpus_with_their_memory(two_gpus: None, tool: Tool) -> None:
    tool("nvcc", "Cuda compilation tools, release 13.0, V13.0.1")
    found = examine()
    assert found["CUDA driver"]["text"] == "serves CUDA 13.0" and found["GPU context"]["text"].startswith("by PyCUDA, /")
    assert found["GPU 0"]["text"] == "Fake 0, sm_90, 81920 MiB, 71680 MiB free"
    assert found["GPU 1"]["state"] == "yes" and found["gpu_jobs"] is True
    assert cli_here("doctor").out.decode().splitlines()[-1] == "Jobs can use a GPU."


def test_a_gpu_without_free_memory(two_gpus: None, monkeypatch) -> None:
    monkeypatch.setenv("FAKE_FREE", str(100 << 20))
    found = examine()
    assert "100 of 81920 MiB of its memory are free" in found["GPU 0"]["text"] and found["GPU 0"]["state"] == "no"
    assert found["gpu_jobs"] is False


@pytest.mark.parametrize(("name", "value", "why"), [
    ("FAKE_DRIVER", "11080", "the driver is of CUDA 11.8, 12.0 or newer is needed"),
    ("CUDA_VISIBLE_DEVICES", "", "serves CUDA 13.0; the CUDA driver names no GPU with CUDA_VISIBLE_DEVICES=''"),
])
def test_a_driver_that_offers_nothing(two_gpus: None, monkeypatch, name: str, value: str, why: str) -> None:
    monkeypatch.setenv(name, value)
    found = examine()
    assert found["CUDA driver"]["text"] == why and "GPU 0" not in found


def test_a_gpu_without_pycuda_and_without_a_driver(machine: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "nvidiactl").touch()
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "pycuda.py").write_text("raise ModuleNotFoundError(name='pycuda')")  # hides one that is there
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    found = examine()["CUDA driver"]
    assert (found["state"], found["help"]) == ("no", "install the NVIDIA driver")
    assert found["text"].startswith("the CUDA driver does not load: libcuda.so.1: ")
