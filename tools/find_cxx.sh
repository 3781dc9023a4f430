#!/bin/sh
# Prints the C++ compiler to build with: $CXX, or the first of g++ (12 or newer) and clang++ (14 or newer) on PATH.
set -eu

# Major version of a compiler, 0 when it is absent.
major() {
  command -v "$1" >/dev/null 2>&1 || { echo 0; return; }
  "$1" -dumpversion | cut -d. -f1
}

if [ -n "${CXX:-}" ]; then
  echo "$CXX"
  exit 0
fi
for candidate in g++ g++-15 g++-14 g++-13 g++-12; do
  if [ "$(major $candidate)" -ge 12 ]; then
    command -v $candidate
    exit 0
  fi
done
for candidate in clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14; do
  if [ "$(major $candidate)" -ge 14 ]; then
    command -v $candidate
    exit 0
  fi
done
exit 1
