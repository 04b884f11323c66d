#!/usr/bin/env bash
# Resolve pyproject.toml, all extras, into requirements.txt: one file for Linux, macOS and Windows, Python 3.11 and newer.
set -euo pipefail
cd "$(dirname "$0")/.."
# The numbers printed in the book were checked with this one; raising it means `make outputs` and reading the differences.
torch=torch==2.13.0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

.venv/bin/python -m pip install --quiet --disable-pip-version-check --target "$scratch/uv" uv
{
    echo "# The exact environment in which the book is built and tested; written by \`make lock\` from pyproject.toml."
    echo "# torch brings its own CUDA libraries where its build has them, so those are not listed."
    echo "$torch" | "$scratch/uv/bin/uv" pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
        --no-header --no-annotate --quiet --constraint - | grep -vE '^(nvidia-|cuda-|triton)'
} > "$scratch/requirements.txt"
mv "$scratch/requirements.txt" requirements.txt
echo "requirements.txt is written; the next command updates the environment to it."
