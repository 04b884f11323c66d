#!/usr/bin/env bash
# Every notebook, carried away alone: in an empty folder, with nothing but the built wheel and its extras installed.
# One after the other; a failure says which. Names of chapters after the command choose some of them.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD venv=$PWD/_build/carried/venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --target _build/uv uv
export VIRTUAL_ENV=$venv UV_HTTP_TIMEOUT=600
uv=$root/_build/uv/bin/uv
rm -rf _build/carried
mkdir -p _build/carried/empty
$uv build --quiet --wheel --python .venv/bin/python --out-dir _build/carried/dist
$uv venv --quiet --python .venv/bin/python "$venv"
wheel=$(echo "$root"/_build/carried/dist/*.whl)
$uv pip install --quiet --constraint requirements.txt "$wheel[notebooks]"
cd _build/carried/empty
shopt -s nullglob
if [ $# -gt 0 ]; then names=("${@/#/$root/chapters/}"); names=("${names[@]/%/.ipynb}"); else names=("$root"/chapters/*.ipynb); fi
for notebook in "${names[@]}"; do
    rm -rf ./*
    cp "$notebook" .
    echo "$(basename "$notebook")"
    # PYTHONPATH could lead back to the repository.
    env -u PYTHONPATH OMP_NUM_THREADS=1 "$venv/bin/python" -m nbconvert --to notebook --execute --log-level ERROR \
        --ExecutePreprocessor.timeout=300 --output done.ipynb "$(basename "$notebook")"
done
echo "All ${#names[@]} notebooks ran with the wheel alone."
