"""Build PufferLib 3.0.0 from its PyPI source distribution, with its C CartPole, into `.venv/pufferlib`.

`pip install pufferlib` can't work where only a package index is reachable: its setup.py fetches raylib and Box2D from
GitHub while it makes the package's metadata, and its own switch for leaving that out (NO_OCEAN=1) ends in a NameError. So:

1. download the source distribution with NO_OCEAN=1 and the missing name defined (a sitecustomize.py of one line);
2. compile from the unchanged sources, with setup.py's flags, the two extensions that CartPole's recipe needs: the advantage
   kernel `pufferlib._C` and `pufferlib.ocean.cartpole.binding`. The source distribution carries raylib's headers and static
   library, which the latter is linked with;
3. install the pure Python packages that its trainer imports into a folder of their own (requirements-pufferlib.txt, without
   dependencies), since their pins (numpy < 2, gymnasium < 0.30) would conflict with the other peers.

Run it with the peers' Python: .venv/bin/python setup_pufferlib.py
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SITE = HERE / ".venv" / "pufferlib"
NAME = "pufferlib-3.0.0"


def pip(*args, **kwargs):
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *args], check=True, **kwargs)


def download(folder):
    shim = folder / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text("import builtins\nbuiltins.c_extension_paths = []\n")
    env = os.environ | {"NO_OCEAN": "1", "PYTHONPATH": str(shim)}
    pip("download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "-d", str(folder), "pufferlib==3.0.0", env=env)
    with tarfile.open(folder / f"{NAME}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / NAME


def build(source):
    """Compile the two extensions in place."""
    import numpy
    from torch.utils import cpp_extension

    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    python = ["-I" + sysconfig.get_paths()["include"]]
    raylib = source / "raylib-5.5_linux_amd64"
    flags = ["-shared", "-fPIC", "-fwrapv", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", "-DPLATFORM_DESKTOP"]
    cartpole = source / "pufferlib/ocean/cartpole"
    command = ["gcc", "-O2", "-flto", *flags, "-Wno-implicit-function-declaration", "-Bsymbolic-functions", *python]
    command += ["-I" + numpy.get_include(), f"-I{raylib}/include", str(cartpole / "binding.c"), f"{raylib}/lib/libraylib.a"]
    subprocess.run([*command, "-lm", "-lpthread", "-ldl", "-o", str(cartpole / f"binding{suffix}")], check=True, cwd=source)

    include = [f"-I{path}" for path in cpp_extension.include_paths()]
    libraries = [f"-L{path}" for path in cpp_extension.library_paths()]
    command = ["g++", "-O3", "-std=c++20", "-shared", "-fPIC", "-DTORCH_EXTENSION_NAME=_C", "-DTORCH_API_INCLUDE_EXTENSION_H"]
    command += [*python, *include, "pufferlib/extensions/pufferlib.cpp", *libraries]
    command += ["-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python", "-o", f"pufferlib/_C{suffix}"]
    subprocess.run(command, check=True, cwd=source)


def main():
    if (SITE / "READY").exists():
        return
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    requirements = str(HERE / "requirements-pufferlib.txt")
    pip("install", "-q", "--no-deps", "--target", str(SITE / "deps"), "-r", requirements)
    with tempfile.TemporaryDirectory() as folder:
        source = download(Path(folder))
        build(source)
        shutil.move(source, SITE / "source")
    (SITE / "READY").touch()


if __name__ == "__main__":
    main()
