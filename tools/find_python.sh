#!/bin/sh
# Prints the Python that .venv is made with: $PYTHON, or the first one on PATH that is 3.11 or newer.
set -eu

recent_enough() {
  command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
  if recent_enough "$candidate"; then
    command -v "$candidate"
    exit 0
  fi
done
echo "[setup] no Python 3.11 or newer found, do: install python3.11 or set PYTHON to one" >&2
exit 1
