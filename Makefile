# Each target sets up what it needs, from nothing, in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: teach paper league test first fuzz slow lint docs bench ratios browser clean

teach: .venv/classroom  ## teach an agent in your browser; make teach ARGS='--port 9000'
	$(BIN)/tellback teach $(ARGS)

paper: .venv/vision  ## the paper's experiments, on all cores; resumes where it was stopped
	$(BIN)/tellback paper

league: .venv/vision  ## every agent in every world; shares its runs with paper
	$(BIN)/tellback league

# One thread of linear algebra in each process: on shared cores, threads wait for each other by spinning.
test first fuzz slow: export OMP_NUM_THREADS = 1
# Bytecode is kept, also where the environment says otherwise: these start many processes.
paper league test first fuzz slow: export PYTHONDONTWRITEBYTECODE =

test: .venv/test browser  ## linters, types, layers, documentation and all tests
	$(MAKE) --jobs=2 lint first
	$(BIN)/python -m pytest -n 6 --dist worksteal -m 'not slow and not first'

# They compile most kernels on the core that the linters leave free: of six workers, five would wait.
first: .venv/test
	$(BIN)/python -m pytest -m first

fuzz: .venv/test  ## the random search for examples that break a promise; other ones each time
	$(BIN)/python -m pytest -n 2 --dist loadfile -m hypothesis --hypothesis-profile fuzz

slow: .venv/test browser  ## before a release: longer runs of what make test tries shortly
	$(BIN)/python -m pytest -m slow

lint: .venv/test  ## style, types and the layers of the architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: .venv/test  ## the documentation, as a site in site/
	$(BIN)/mkdocs build --strict

bench: .venv/test  ## speed, as ratios measured side by side
	$(BIN)/python -m benchmarks

ratios: .venv/test  ## seconds: fails if a ratio to bare NumPy got worse by more than half
	$(BIN)/python -m benchmarks.responses --short

browser:  ## the tests' Chromium: TELLBACK_CHROMIUM, or one on the path, or else Debian's is installed
	@for name in $${TELLBACK_CHROMIUM:-chromium chromium-browser google-chrome}; do \
	  command -v "$$name" >/dev/null && exit 0; \
	done; \
	if [ -z "$$TELLBACK_CHROMIUM" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium && exit 0; \
	fi; \
	printf '\n*** NO BROWSER FOUND ***\nThe tests that need one will be skipped (and fail with %s).\n%s\n\n' \
	  TELLBACK_SKIP_NOTHING=1 'Install Chromium, or name one in TELLBACK_CHROMIUM.' >&2

clean:
	rm -rf .venv site src/tellback/__pycache__

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit("tellback needs Python 3.11 or later, and $(PYTHON) is " \
	  + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/core: .venv/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

.venv/classroom: .venv/core
	$(PIP) -e '.[classroom]'
	@touch $@

# No bytecode beforehand: most of PyTorch is never imported.
.venv/vision: .venv/python pyproject.toml constraints.txt
	$(PIP) --no-compile -e '.[lab,vision]'
	@touch $@

.venv/test: .venv/core
	$(PIP) -e '.[lab,torch,vision,pictures,gymnasium,babyai,ray,pandas,faiss,language,people,classroom,postgres,test,docs]'
	@touch $@
