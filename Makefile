# Hidden State: all commands of the project. `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

PY := .venv/bin/python
# Chapters executed at a time, and browsers: one takes one core and about half a gigabyte.
JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 1); echo $$(( n < 4 ? n : 4 )))
# Browser tests wait about half of their time (for a figure that plays, a line that is spoken late): twice as many.
BROWSERS ?= $(shell echo $$(( 2 * $(JOBS) )))
CHAPTERS := $(basename $(notdir $(wildcard chapters/*.ipynb)))
SOLUTIONS ?= end

# Each of dozens of processes would compile the package and the tests again where this asks for no compiled files.
export PYTHONDONTWRITEBYTECODE :=

# Kernels and test processes run beside each other: one thread each, and no live front end to talk to.
BATCH := OMP_NUM_THREADS=1 D2LRNN_STATIC=1
# Without a plug-in that no test needs here, and that takes a second and a half to import in each process.
PYTEST := $(BATCH) $(PY) -m pytest -q -p no:nbval

define step
	@printf '\n\033[1m== %s\033[0m\n' "$(1)"
endef

.PHONY: help env book test quick lint format node unit chapters watch browser figures pages chromium pdf slides bench lab outputs strip repository student pretrained kernels lock lowest carried clean

help: ## list these targets
	@echo "Hidden State"
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18
	@echo "  PYTHON=python3.12 chooses the Python of the environment, JOBS=1 executes one chapter at a time."
	@echo "  BENCH='--device cuda' passes options to the benchmark."

env:
	@PYTHON="$(PYTHON)" tools/make_env.sh

book: env node ## make the environment, execute every chapter, leave the book at _build/html/index.html
	@$(PY) tools/build_book.py --jobs $(JOBS)

test: env node chromium ## everything that proves the book (a Chromium is installed if there is none)
	$(call step,1/3 lint)
	@$(MAKE) lint
	$(call step,2/3 side by side: tests and doctests of the package; chapters run and pages without a warning; explorables in a real browser)
	@$(MAKE) --jobs=2 together-unit together-book together-figures
	$(call step,3/3 book in a real browser: over http and from disk with the network blocked)
	@$(MAKE) pages
	@echo "All of it passed."

# Two of them at a time, so that no core waits while the pages are written. Each line says whose it is.
together-%:
	@$(MAKE) $* 2>&1 | while IFS= read -r line; do printf '%-7s | %s\n' '$*' "$$line"; done

quick: env node ## for daily work: lint, doctests, and the tests that take less than a second each
	@$(MAKE) lint
	@$(PYTEST) --ignore tests/browser -m "not slow" -n $(JOBS) --dist worksteal

lint: env ## style and types: Python by ruff and mypy, JavaScript by oxlint
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@.venv/bin/oxlint --deny-warnings
	@$(PY) -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@.venv/bin/zizmor --offline --quiet .github/workflows

format: env ## let ruff mend what it can
	@$(PY) -m ruff check --fix .

node: env
	@$(PY) tools/node.py

unit: env node ## all tests and doctests of the package
	@$(PYTEST) --ignore tests/browser -n $(JOBS) --dist loadfile

chapters: env ## execute the chapters that a change concerns, compare their checked outputs
	@$(PY) tools/execute_chapters.py --jobs $(JOBS)

watch: env node ## build the pages again after every change, and show them in a browser that reloads
	@$(PY) tools/watch.py --jobs $(JOBS)

chromium: env node
	@$(PY) tools/chromium.py

IN_A_BROWSER := $(PYTEST) -n $(BROWSERS) tests/browser

browser: env chromium ## open the explorables and the built book in a real Chromium
	@$(IN_A_BROWSER)

figures: env chromium # what of it needs no built book
	@$(IN_A_BROWSER) -m "not built"

pages: env chromium # and the rest
	@$(IN_A_BROWSER) -m built

pdf: book chromium ## print the book and each lesson into _build/pdf; SOLUTIONS=no leaves the solutions out
	@$(PY) tools/make_pdf.py --solutions $(SOLUTIONS)

slides: book ## turn every chapter into slides, _build/html/slides, with the explorables alive
	@$(PY) tools/make_slides.py

bench: env ## train the same networks with everybody's code, in turns, and print who is how fast (some 8 minutes)
	@$(PY) benchmarks/run.py $(BENCH)

lab: env ## open JupyterLab on the chapters
	@$(PY) -m jupyter lab --notebook-dir=chapters $$([ "$$(id -u)" != 0 ] || echo --allow-root)

outputs: env ## execute the chapters anew and keep the outputs of the checked cells alone
	@$(BATCH) $(PY) tools/store_outputs.py $(CHAPTERS:%=chapters/%.ipynb)

strip: env ## take out of the notebooks what a run in an editor has stored
	@$(PY) tools/store_outputs.py --strip $(CHAPTERS:%=chapters/%.ipynb)

repository: env ## bring the notebooks into line with the repository that pyproject.toml names
	@$(PY) tools/repository.py

student: env ## write every chapter without its solutions, with the checks, into _build/student
	@$(PY) tools/student.py

pretrained: env ## train the small networks that the package carries, from their seed
	@$(BATCH) $(PY) tools/train_pretrained.py

kernels: env ## compile the training lab's SIMD kernels (asks for the compiler's package)
	@$(PY) tools/build_kernels.py

lowest: env ## run the package's tests at the lowest versions that pyproject.toml promises (fetches 3 GB once)
	@tools/lowest.sh

carried: env ## run every notebook in an empty folder, with the built wheel alone (a new environment; 3 GB, some minutes)
	@tools/carried.sh $(ONLY)

lock: env ## write requirements.txt anew from pyproject.toml
	@tools/lock.sh

clean: ## remove the book and all that is stored of earlier runs (the environment stays)
	rm -rf _build .pytest_cache .ruff_cache
