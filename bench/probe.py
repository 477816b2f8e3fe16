"""The probed device (device_probe.cpp) of the benches: building its library, and a `heterodoop` that uses it.

    python bench/probe.py LIBRARY ARGUMENTS ...     `heterodoop ARGUMENTS ...` whose workers load LIBRARY as their device
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from heterodoop.executor.worker_messages import Setup  # noqa: E402
from heterodoop.toolchain import native  # noqa: E402

EMULATED = ("emu_device", "emu_memory", "radix_sort")


def build(folder: Path) -> Path:
    """The library, linked with the emulated device, which it stands around where HD_PROBE_BASE names no other."""
    device = ROOT / "runtime" / "host" / "device"
    sources = [ROOT / "bench" / "device_probe.cpp", *(device / f"{name}.cpp" for name in EMULATED)]
    return native.compile_library(sources, folder / "probe.so")


def main() -> None:
    from heterodoop.cli import main as command
    from heterodoop.engine import devices

    library = Path(sys.argv.pop(1))
    devices.Setup = lambda runtime, _: Setup(runtime, library)  # type: ignore[misc, assignment]
    command()


if __name__ == "__main__":
    main()
