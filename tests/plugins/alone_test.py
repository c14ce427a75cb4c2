#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sources that a program's own session loads and no runtime does: the trace says that they are
absent and what helps, and with what helps that they record. Prints TAP."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Skip, cases_of, run_cases

BUILD = os.environ["KYMO_BUILD"]
FOLDER = os.path.join(BUILD, "plugins", "source")

# KYMO PLUGIN TRACE [RUNTIME]: a session, and in it a call of the runtime.
PROGRAM = """
import ctypes, sys
kymo = ctypes.CDLL(sys.argv[1])

class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("overflow", ctypes.c_uint32), ("buffer", ctypes.c_uint64),
                ("sources", ctypes.POINTER(ctypes.c_char_p))]

region = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
CALLS = {"libomp.so.5": lambda omp: omp.GOMP_parallel(region, None, 1, 0),
         "libOpenCL.so.1": lambda cl: cl.clGetPlatformIDs(0, None, ctypes.byref(ctypes.c_uint32()))}
session, error = ctypes.c_void_p(), ctypes.create_string_buffer(512)
sources = (ctypes.c_char_p * 2)(sys.argv[2].encode(), None)
options = Options(ctypes.sizeof(Options), 0, 0, sources)

def must(status):
    if status:
        sys.exit(error.raw[4:].split(b"\\0")[0].decode())

must(kymo.kymo_session_create(ctypes.byref(session), ctypes.byref(options), error))
must(kymo.kymo_session_start(session, error))
if len(sys.argv) > 4:
    CALLS[sys.argv[4]](ctypes.CDLL(sys.argv[4]))
must(kymo.kymo_session_stop(session, error))
must(kymo.kymo_session_save(session, sys.argv[3].encode(), None, None, error))
kymo.kymo_session_destroy(session)
"""


def state_of(folder, name, *used, **environment):
    path = os.path.join(folder, "t.json")
    done = subprocess.run([sys.executable, "-c", PROGRAM, os.path.join(BUILD, "libkymo.so.0"),
                           os.path.join(FOLDER, name + ".so"), path, *used], capture_output=True, text=True,
                          timeout=60, check=False, env=dict(os.environ, **environment))
    assert done.returncode == 0, done
    with open(path, encoding="utf-8") as f:
        source, = json.load(f)["kymo"]["sources"]
    assert source["name"] == name, source
    return source


def check(folder, name, variable, *used):
    alone = state_of(folder, name)
    assert alone["state"] == "absent" and "has loaded it" in alone["reason"], alone
    assert variable in alone["remedy"] and f"kymo doctor {name}" in alone["remedy"], alone
    os.remove(os.path.join(folder, "t.json"))
    # The session and the runtime need not spell its path alike.
    loaded = state_of(folder, name, *used, **{variable: os.path.join(FOLDER, ".", name + ".so")})
    assert loaded["state"] in ("recording", "partly"), loaded


def need(name, library):
    have = subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({library!r})"],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0
    if not have or not os.path.exists(os.path.join(FOLDER, name + ".so")):
        raise Skip(f"no {name} source or no {library}")


def openmp_says_that_no_runtime_has_loaded_it(folder):
    need("openmp", "libomp.so.5")
    check(folder, "openmp", "OMP_TOOL_LIBRARIES", "libomp.so.5")


def opencl_says_that_no_loader_has_loaded_it(folder):
    need("opencl", "libOpenCL.so.1")
    check(folder, "opencl", "OPENCL_LAYERS", "libOpenCL.so.1")


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
