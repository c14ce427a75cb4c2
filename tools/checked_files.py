# SPDX-License-Identifier: BSD-3-Clause
"""The files that the checks read: C files in the checkout that git does not ignore, ours only."""
import os
import subprocess

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def c_files():
    """Paths from the top, sorted. Headers taken over from a vendor lie in folders called vendor."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard", "--", "*.c", "*.h"],
        check=True, capture_output=True, text=True).stdout
    return sorted(path for path in set(listed.split("\0"))
                  if path and "/vendor/" not in path and os.path.exists(path))


def public_headers():
    return [path for path in c_files() if path.startswith("include/kymo/")]
