"""The probed device (device_probe.cpp) of the benches: building its library, and a `heterodoop` that uses it.

    python -m tests.on_gpu.probe LIBRARY ARGUMENTS ...   `heterodoop ARGUMENTS ...` whose workers have LIBRARY as device
"""

from __future__ import annotations

import sys
from pathlib import Path

from heterodoop.executor.worker.messages import Setup
from heterodoop.toolchain import native

ROOT = Path(__file__).resolve().parents[2]
EMULATED = ("emu_device", "emu_memory", "radix_sort")


def build(folder: Path) -> Path:
    """The library, linked with the emulated device, which it stands around where HD_PROBE_BASE names no other."""
    device = ROOT / "runtime" / "host" / "device"
    sources = [Path(__file__).with_name("device_probe.cpp"), *(device / f"{name}.cpp" for name in EMULATED)]
    return native.compile_library(sources, folder / "probe.so")


def main() -> None:
    from heterodoop.cli import main as command
    from heterodoop.engine.devices import devices

    library = Path(sys.argv.pop(1))
    devices.Setup = lambda runtime, _: Setup(runtime, library)  # type: ignore[misc, assignment]
    command()


if __name__ == "__main__":
    main()
