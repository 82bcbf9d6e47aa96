#!/usr/bin/env bash
# Make the virtual environment $1 with the newest Python >= 3.11 that runs and has venv.
set -euo pipefail
target=$1
[ -x "$target/bin/python" ] && "$target/bin/python" -c '' 2>/dev/null && exit 0

for python in python3.{20..11} python3 python; do
    # A name on the PATH may be a shim for a version that is not active: ask it to run.
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    "$python" -c 'import venv, ensurepip' >/dev/null 2>&1 || { without_venv=$python; continue; }
    echo "making $target with $("$python" --version)" >&2
    exec "$python" -m venv --clear "$target"
done

if [ -n "${without_venv:-}" ]; then
    echo "error: $without_venv has no venv module; on Debian or Ubuntu: apt install python3-venv" >&2
else
    echo "error: boundit needs Python 3.11 or newer, and none was found on the PATH" >&2
fi
exit 1
