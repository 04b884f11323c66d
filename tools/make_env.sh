#!/usr/bin/env bash
# Make or update the environment in .venv, or find in a few milliseconds that nothing is to be done.
#   .venv/.complete    written last: the place and the contents from which the environment was made
#   .venv/.unfinished  there while packages are being installed: where it is found, the environment is made anew
# An environment with neither was made by hand: packages are installed into it, nothing is removed.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv
least=3.11
fail() { printf 'make: %s\n' "$*" >&2; exit 1; }

# A name on the PATH proves nothing (version managers leave shims that only print an error): run it.
suits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import venv, ensurepip' >/dev/null 2>&1; }
version() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null; }

choose_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        suits "$PYTHON" || fail "PYTHON=$PYTHON is not a Python $least or newer that runs; name one that is, or leave it out."
        echo "$PYTHON"
        return
    fi
    # The system's own first, then the newest other; one that can make environments before one that can't.
    for candidate in python3 python3.{30..11}; do
        if suits "$candidate" && has_venv "$candidate"; then echo "$candidate"; return; fi
    done
    for candidate in python3 python3.{30..11}; do
        if suits "$candidate"; then echo "$candidate"; return; fi
    done
    fail "no Python $least or newer was found; install one (on Debian or Ubuntu: apt-get install python3 python3-venv)" \
         "or name it: make PYTHON=/path/to/python3.12 book"
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Debian and Ubuntu ship Python without the module that makes environments.
install_venv_package() {
    echo "This Python has no venv module: installing the system's package $1"
    apt-get update -qq || true
    env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" || true
}

create() {
    local python=$1 package
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if ! has_venv "$python" && ! command -v virtualenv >/dev/null && may_install; then
        install_venv_package "$package"
    fi
    rm -rf "$venv"
    mkdir "$venv"
    touch "$venv/.unfinished"
    if has_venv "$python"; then
        "$python" -m venv "$venv"
    elif command -v virtualenv >/dev/null; then
        virtualenv -q -p "$python" "$venv"
    else
        rm -rf "$venv"
        fail "$python can't make an environment because its venv module is missing; as root run" \
             "'apt-get install $package', then try again."
    fi
}

contents() { cat requirements.txt pyproject.toml tools/make_env.sh | sha256sum | cut -d' ' -f1; }
stamp() { pwd; contents; }

python=
[ -z "${PYTHON:-}" ] || python=$(choose_python)
right_version() { [ -z "$python" ] || [ "$(version "$python")" = "$(version "$venv/bin/python")" ]; }

if [ -f "$venv/.complete" ] && [ "$(cat "$venv/.complete")" = "$(stamp)" ] && suits "$venv/bin/python" && right_version; then
    exit 0
fi

# A moved environment is of no use: its scripts name the old place.
moved() { [ -f "$venv/.complete" ] && [ "$(head -n 1 "$venv/.complete")" != "$(pwd)" ]; }
if [ ! -f "$venv/.unfinished" ] && ! moved && suits "$venv/bin/python" && right_version \
        && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    echo "Updating the environment in $venv"
else
    [ -n "$python" ] || python=$(choose_python)
    echo "Making the environment in $venv with $python, Python $(version "$python")"
    create "$python"
fi
touch "$venv/.unfinished"
rm -f "$venv/.complete"
# uv is the quicker one where it is there; what it can't do (its settings are not pip's) pip may.
install() {
    if command -v uv >/dev/null; then
        uv pip install --python "$venv/bin/python" "$@" && return
        echo "uv could not install that; now with pip"
    fi
    "$venv/bin/python" -m pip --disable-pip-version-check install "$@"
}
install -r requirements.txt \
    || fail "the packages of requirements.txt could not be installed (see above);" \
            "where one has no release for this Python, name an older one: make PYTHON=python3.11 book"
install --quiet --no-deps -e . || fail "the package d2lrnn could not be installed (see above)."
# Fonts are listed here, once: in a chapter's kernel the message about it would count as an error.
"$venv/bin/python" -c 'import matplotlib.font_manager' || fail "matplotlib does not start in $venv (see above)."
rm "$venv/.unfinished"
stamp > "$venv/.complete"
