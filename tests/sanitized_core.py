"""A pytest plugin that puts a core compiled with sanitizers in the place of the installed one.

`python -m tests.sanitized_core MODULE ...` does the same for a module that is run, such as `tests.fuzz`.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from pathlib import Path


def use_sanitized_core() -> None:
    """Load the module in the folder that WIDEMARGIN_SANITIZED_CORE names."""
    folder = Path(os.environ["WIDEMARGIN_SANITIZED_CORE"])
    (path,) = folder.glob("_core.*.so")
    spec = importlib.util.spec_from_file_location("widemargin._core", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not an extension module")
    module = importlib.util.module_from_spec(spec)
    sys.modules["widemargin._core"] = module
    spec.loader.exec_module(module)
    # Programs that tests start are not what is examined, and compilers and shells fail under the runtime.
    os.environ.pop("LD_PRELOAD", None)


if "WIDEMARGIN_SANITIZED_CORE" in os.environ:
    use_sanitized_core()

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
