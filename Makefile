# All tasks of development and deployment; `make` without a target lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# `sam build` needs python3.13 with pip on PATH: the one in .venv comes first.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# No telemetry.
export SAM_CLI_TELEMETRY := 0
export UV_PYTHON_PREFERENCE := system

READY := .local/setup.stamp
LAYERS := dependencies cryptography imports labels
SOURCES := $(shell find -L shared functions -type f -not -name '*.pyc' | sort)
SOURCE_LIST := .aws-sam/sources.txt
BUILT_FROM := template.yaml samconfig.toml $(LAYERS:%=layers/%/requirements.txt) tools/finish_build.py tools/precompile.py $(SOURCE_LIST) $(SOURCES)
# Compiled packages depend on the processor: that of this machine for local builds, arm64 in AWS.
HOST_ARCH := $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
STACK := python -m local.stack
PORT_OPTION := $(if $(PORT),--port $(PORT))

$(READY): pyproject.toml uv.lock tools/setup.sh tools/uv-requirements.txt
	@tools/setup.sh
	@touch $@

# A stamp without what it stands for, which somebody removed, must not count.
ifeq ($(wildcard .venv/bin/python),)
$(READY): FORCE
endif
ifeq ($(wildcard .aws-sam/build/template.yaml),)
.aws-sam/build.stamp: FORCE
endif

# Checkov has an environment of its own: its packages would limit the versions of ours.
CHECKOV := .local/checkov/installed.stamp
$(CHECKOV): $(READY) tools/checkov/requirements.txt
	@.local/bootstrap/bin/uv venv --quiet --clear --python .venv/bin/python .local/checkov
	@.local/bootstrap/bin/uv pip sync --quiet --require-hashes --python .local/checkov/bin/python \
		tools/checkov/requirements.txt
	@touch $@

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  \033[1m%-9s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## Install all dependencies into .venv (other targets do it when needed).

# -- the local stack ---------------------------------------------------------------------------

.PHONY: run
run: build ## Start the complete stack on this machine (DETACH=1: in the background; PORT=4566).
	@$(STACK) start $(if $(DETACH),--detach) $(PORT_OPTION)

.PHONY: stop
stop: $(READY) ## Stop the local stack; its data is kept.
	@$(STACK) stop

.PHONY: clean
clean: $(READY) ## Stop the local stack, and remove its data and all build products.
	@$(STACK) clean
	@rm -rf .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: demo
demo: $(READY) ## Run a demo of all features against the local stack, and print its steps (TENANT=acme).
	@python -m local.demo $(if $(TENANT),--tenant $(TENANT))

.PHONY: listen
listen: $(READY) ## Receive webhooks of a tenant and print its events (TENANT=acme PORT=8787).
	@python -m local.listen $(if $(TENANT),--tenant $(TENANT)) $(PORT_OPTION)

# -- tests and checks --------------------------------------------------------------------------

# Several processes import the same modules: keep their bytecode even if the environment says not to.
test quick sweep: export PYTHONDONTWRITEBYTECODE :=
test quick sweep: export PYTHONPYCACHEPREFIX := $(CURDIR)/.local/bytecode

.PHONY: test
test: $(READY) ## Run the test suite in-process, without network (ARGS= for pytest).
	@pytest $(ARGS)

.PHONY: quick
quick: export TESTMON_DATAFILE := .local/testmon
quick: $(READY) ## Check what a change can break: format, lint, types, generated files, affected tests (RECORD=1).
	@$(if $(RECORD),rm -f .local/testmon)
	@ruff format --check
	@ruff check
	@mypy
	@python -m tools.openapi --check
	@python -m tools.error_page --check
	@python -m tools.words --check
	@python -m tools.pages --check
	@pytest $(if $(RECORD),--testmon,$(if $(wildcard .local/testmon),--testmon-nocollect,--testmon)) $(ARGS)

.PHONY: thorough
thorough: build ## Run everything in full with random seeds, for hours; continues (ARGS="PART … --seed 7").
	@python -m tests.thorough $(ARGS)

.PHONY: sweep
sweep: $(READY) ## Run the test suite with all cases of every family (SEED=, ARGS= for pytest).
	@export RANDOM_SEED=$${SEED:-$$(date +%s)} && \
		echo "Seed $$RANDOM_SEED; repeat this run with: make sweep SEED=$$RANDOM_SEED" && \
		SWEEP=all pytest --hypothesis-seed=$$RANDOM_SEED $(ARGS)

.PHONY: engine
engine: $(READY) ## Run the integration tests against DynamoDB Local (ARGS= for pytest; see CONTRIBUTING.md).
	@tools/engine.sh $(ARGS)

.PHONY: soak
soak: build ## Send random traffic to the local stack while its functions are killed (MINUTES=10 SEED=).
	@$(STACK) with $(PORT_OPTION) -- python -m tests.soak \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

.PHONY: floor
floor: build ## Work with five handhelds through cuts and kills against the local stack (SEED= SCANS=500).
	@tools/chromium.sh
	@export RANDOM_SEED=$${SEED:-$$(date +%s)} RANDOM_FLOOR_SCANS=$(or $(SCANS),500) && \
		echo "Seed $$RANDOM_SEED; repeat this run with: make floor SEED=$$RANDOM_SEED" && \
		$(STACK) with $(PORT_OPTION) -- pytest -n0 -rP tests/e2e/console/floor/test_simulation.py $(ARGS)

.PHONY: random
random: $(READY) ## Run long random tests (SEED=, STEPS=10000, INTERLEAVINGS=200, DOCUMENTS=1000, EVENTS=300, VERIFY_MINUTES=10, FEED_ROUNDS=35).
	@export RANDOM_SEED=$${SEED:-$$(date +%s)} && \
		echo "Seed $$RANDOM_SEED; repeat this run with: make random SEED=$$RANDOM_SEED" && \
		RANDOM_STEPS=$(or $(STEPS),10000) RANDOM_INTERLEAVINGS=$(or $(INTERLEAVINGS),200) \
		RANDOM_DOCUMENTS=$(or $(DOCUMENTS),1000) RANDOM_EVENTS=$(or $(EVENTS),300) \
		RANDOM_VERIFY_MINUTES=$(or $(VERIFY_MINUTES),10) \
		RANDOM_FEED_ROUNDS=$(or $(FEED_ROUNDS),35) \
		pytest --show-capture=no tests/integration/stock/test_stateful.py \
		tests/integration/stock/test_interleavings.py tests/integration/test_takeovers.py \
		tests/integration/verify/test_traffic.py \
		tests/integration/exports/test_synchronisation.py \
		tests/integration/imports/test_concurrency.py \
		tests/integration/imports/test_worker_crashes.py \
		tests/integration/webhooks/test_concurrency.py \
		tests/integration/webhooks/test_random_crashes.py $(ARGS)

.PHONY: fuzz
fuzz: $(READY) ## Fuzz the parsers of forms (SEED= of the first round, ROUNDS=20 of 5,000 forms).
	@export SWEEP=all FUZZ_EXAMPLES=5000 first=$${SEED:-$$(date +%s)} && \
		for seed in $$(seq $$first $$((first + $(or $(ROUNDS),20) - 1))); do \
			echo "Repeat this round with: make fuzz SEED=$$seed ROUNDS=1" && \
			pytest --hypothesis-seed=$$seed tests/unit/http/test_fuzzed_forms.py $(ARGS) || exit; \
		done

.PHONY: mutants
mutants: $(READY) ## Remove each condition and each write of the warehouse in turn; a test must fail.
	@python -m tests.mutations $(ARGS)

.PHONY: e2e
e2e: build ## Run the end-to-end tests over HTTP and in a browser against the local stack (started if needed).
	@tools/chromium.sh
	@tools/node/install.sh
	@$(STACK) with $(PORT_OPTION) -- pytest tests/e2e $(ARGS)

.PHONY: pictures
pictures: build ## Take the pictures of docs/guides/console.md, of a company of its own on the local stack.
	@tools/chromium.sh
	@tools/node/install.sh
	@$(STACK) with $(PORT_OPTION) -- env PICTURES=docs/guides/pictures pytest -n0 tests/e2e/console/test_pictures.py $(ARGS)

.PHONY: kills
kills: build ## Kill parts of a local stack in a copy of the working tree, and start it again (PORT=4620).
	@$(if $(PORT),PORT=$(PORT)) pytest -n0 tests/kills $(ARGS)

.PHONY: check
check: ## Check commits, format, lint, types, template, generated files and layers.
	@$(MAKE) --no-print-directory --jobs=2 $(filter --output-sync,$(.FEATURES:%=--%)) check-code check-template check-interface

.PHONY: check-code check-template check-interface
check-code: $(READY)
	python -m tools.commit_subjects
	ruff format --check
	ruff check
	mypy
	python -m tools.error_page --check
	python -m tools.words --check
	python -m tools.pages --check
	python -m tools.third_party --check
	@for layer in $(LAYERS); do \
		diff -u layers/$$layer/requirements.txt <(tools/export_layer.sh $$layer) || \
		{ echo "layers/$$layer/requirements.txt differs from uv.lock: run 'make lock'." >&2; exit 1; }; \
	done
	@diff -u tools/uv-requirements.txt <(tools/export_layer.sh uv) || \
		{ echo "tools/uv-requirements.txt differs from uv.lock: run 'make lock'." >&2; exit 1; }

check-template: $(READY) $(CHECKOV)
	cfn-lint template.yaml deployment/*.yaml
	python -m tools.scan_template

check-interface: $(READY)
	python -m tools.openapi --check
	tools/openapi/lint.sh
	tools/console/check.sh

.PHONY: bench
bench: build ## Measure costs and times, and write docs/internals/performance.md (ARGS= to only look, see --help).
	@tools/chromium.sh
	@python -m tests.bench $(or $(ARGS),--write)

.PHONY: compare
compare: $(READY) ## Compare calls, units, examined items and sizes with tests/bench/baseline.json.
	@python -m tests.bench --compare $(ARGS)

# -- build and deploy --------------------------------------------------------------------------

.PHONY: lock
lock: ## Update uv.lock, the requirements of the layers and of Checkov, and THIRD-PARTY.md.
	@test -x .local/bootstrap/bin/uv || tools/setup.sh
	.local/bootstrap/bin/uv lock
	for layer in $(LAYERS); do tools/export_layer.sh $$layer >layers/$$layer/requirements.txt; done
	tools/export_layer.sh uv >tools/uv-requirements.txt
	.local/bootstrap/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate \
		--python .venv/bin/python --custom-compile-command 'make lock' \
		tools/checkov/requirements.in -o tools/checkov/requirements.txt
	tools/setup.sh
	python -m tools.third_party

# SAM downloads compiled packages for arm64 by name and version only. pip compares the hashes of constraints then, too.
.aws-sam/build.stamp package: export PIP_CONSTRAINT := $(LAYERS:%=$(CURDIR)/layers/%/requirements.txt)

.PHONY: build
build: .aws-sam/build.stamp ## Build functions and layers for this machine into .aws-sam/build.

# The list of sources changes when a module is deleted, which then triggers a build.
.PHONY: FORCE
$(SOURCE_LIST): FORCE
	@mkdir -p $(@D)
	@echo $(SOURCES) | cmp -s - $@ || echo $(SOURCES) >$@

.aws-sam/build.stamp: $(READY) $(BUILT_FROM)
	@rm -f $@
	@echo "Building with sam (log: .aws-sam/build.log)"
	@sam build --parameter-overrides Architecture=$(HOST_ARCH) >.aws-sam/build.log 2>&1 || \
		{ cat .aws-sam/build.log; exit 1; }
	@python tools/finish_build.py .aws-sam/build $(HOST_ARCH)
	@touch $@

# A directory of its own, so that the build of the local stack stays as it is.
.PHONY: package
package: $(READY) ## Build functions and layers for AWS (arm64) into .aws-sam/prod.
	sam build --config-env prod --build-dir .aws-sam/prod --cache-dir .aws-sam/prod-cache
	@python tools/finish_build.py .aws-sam/prod arm64

# Scripts and workflows pass these values on. They are data: neither make nor a shell evaluates them. Their
# text becomes the value (`$(value)`), and `tools.deploy` reads it from the environment.
define AS_TEXT
ifneq ($$(origin $(1)),undefined)
override export $(1) := $$(value $(1))
endif
endef
$(foreach name,YES STACK_NAME REGION PARAMETERS PROFILE PACKAGED,$(eval $(call AS_TEXT,$(name))))

.PHONY: deploy
deploy: $(READY) ## Build and deploy to an AWS account (asks; YES=1 STACK_NAME= REGION= PARAMETERS="A=b" in scripts; PROFILE=production).
	@python -m tools.deploy
	@$(if $(PACKAGED),,$(MAKE) --no-print-directory package)
	sam deploy --config-file $(CURDIR)/samconfig.toml --config-env prod \
		--template-file .aws-sam/prod/template.yaml $(if $(YES),--no-confirm-changeset)
