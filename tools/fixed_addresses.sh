#!/bin/sh
# Runs a command without address space randomisation where the machine allows that: the thread sanitizer of older
# compilers cannot place its shadow memory under the wide randomisation of newer kernels.
set -eu

if setarch "$(uname -m)" -R true 2>/dev/null; then
  exec setarch "$(uname -m)" -R "$@"
fi
exec "$@"
