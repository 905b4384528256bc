# Everything a person does with this repository. `make` alone lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# `sam build` looks for python3.13 with pip on PATH: the project's own comes first.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Nothing here phones home.
export SAM_CLI_TELEMETRY := 0
export UV_PYTHON_PREFERENCE := system

READY := .local/setup.stamp
LAYERS := dependencies imports
SOURCES := $(shell find -L shared functions -type f -not -name '*.pyc' | sort)
SOURCE_LIST := .aws-sam/sources.txt
BUILT_FROM := template.yaml samconfig.toml $(LAYERS:%=layers/%/requirements.txt) tools/finish_build.py $(SOURCE_LIST) $(SOURCES)
# Compiled packages must fit the processor: this machine's here, arm64 in the cloud.
HOST_ARCH := $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
STACK := python -m local.stack
PORT_OPTION := $(if $(PORT),--port $(PORT))

$(READY): pyproject.toml uv.lock tools/setup.sh
	@tools/setup.sh
	@touch $@

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  \033[1m%-8s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## Install everything into .venv (the other targets do it by themselves).

# -- the local stack ---------------------------------------------------------------------------

.PHONY: run
run: build ## Start the whole stack on this machine (DETACH=1: in the background; PORT=4566).
	@$(STACK) start $(if $(DETACH),--detach) $(PORT_OPTION)

.PHONY: stop
stop: $(READY) ## Stop the stack; its data stays.
	@$(STACK) stop

.PHONY: clean
clean: $(READY) ## Stop the stack and forget its data and every build product.
	@$(STACK) clean
	@rm -rf .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: demo
demo: $(READY) ## Play the story of a warehouse against the running stack.
	@python -m local.demo

.PHONY: listen
listen: $(READY) ## Show the events of a tenant as they arrive (TENANT=acme PORT=8787).
	@python -m local.listen $(if $(TENANT),--tenant $(TENANT)) $(PORT_OPTION)

# -- tests and checks --------------------------------------------------------------------------

# Three processes import the same: bytecode is kept even where the environment keeps none.
.PHONY: test
test: export PYTHONDONTWRITEBYTECODE :=
test: export PYTHONPYCACHEPREFIX := $(CURDIR)/.local/bytecode
test: $(READY) ## Run the test suite: in-process, no network.
	@pytest $(ARGS)

.PHONY: sweep
sweep: $(READY) ## Let every fault strike at every AWS call of every write, import and delivery, not at a few.
	@SWEEP=all pytest tests/integration/test_crashes.py \
		tests/integration/imports/test_fault_injection.py \
		tests/integration/webhooks/test_fault_injection.py $(ARGS)

.PHONY: soak
soak: $(READY) ## Work, import and deliver at random, for long (SEED=, STEPS=10000, INTERLEAVINGS=200, DOCUMENTS=1000, EVENTS=300).
	@export SOAK_SEED=$${SEED:-$$(date +%s)} && \
		echo "seed $$SOAK_SEED; again: make soak SEED=$$SOAK_SEED" && \
		SOAK_STEPS=$(or $(STEPS),10000) SOAK_INTERLEAVINGS=$(or $(INTERLEAVINGS),200) \
		SOAK_DOCUMENTS=$(or $(DOCUMENTS),1000) SOAK_EVENTS=$(or $(EVENTS),300) \
		pytest --show-capture=no tests/integration/stock/test_stateful.py \
		tests/integration/stock/test_interleavings.py tests/integration/imports/test_concurrency.py \
		tests/integration/imports/test_worker_crashes.py \
		tests/integration/webhooks/test_concurrency.py \
		tests/integration/webhooks/test_crash_soak.py $(ARGS)

.PHONY: mutants
mutants: $(READY) ## Take each guard and movement out of the stock engine: a test must fail.
	@python -m tests.mutations $(ARGS)

.PHONY: e2e
e2e: build ## Drive the local stack over HTTP: the running one, or one for this alone.
	@$(STACK) with $(PORT_OPTION) -- pytest tests/e2e $(ARGS)

.PHONY: check
check: $(READY) ## Format, lint, types, template, and the layer against the lock file.
	ruff format --check
	ruff check
	mypy
	sam validate --lint
	cfn-lint template.yaml
	python -m tools.openapi --check
	python -m tools.error_page --check
	python -m tools.third_party --check
	@for layer in $(LAYERS); do \
		diff -u layers/$$layer/requirements.txt <(tools/export_layer.sh $$layer) || \
		{ echo "layers/$$layer is not what uv.lock says: run 'make lock'." >&2; exit 1; }; \
	done

.PHONY: bench
bench: build ## Measure the figures that docs/ quotes.
	@python -m tests.bench $(ARGS)

# -- build and deploy --------------------------------------------------------------------------

.PHONY: lock
lock: ## Lock the dependencies again, export the layers' and list their licences.
	@test -x .local/bootstrap/bin/uv || tools/setup.sh
	.local/bootstrap/bin/uv lock
	for layer in $(LAYERS); do tools/export_layer.sh $$layer >layers/$$layer/requirements.txt; done
	tools/setup.sh
	python -m tools.third_party

.PHONY: build
build: .aws-sam/build.stamp ## Build what runs on this machine, into .aws-sam/build.

# A deleted module must trigger a build as a changed one does.
.PHONY: FORCE
$(SOURCE_LIST): FORCE
	@mkdir -p $(@D)
	@echo $(SOURCES) | cmp -s - $@ || echo $(SOURCES) >$@

.aws-sam/build.stamp: $(READY) $(BUILT_FROM)
	@echo "Building with sam (its output: .aws-sam/build.log)"
	@sam build --parameter-overrides Architecture=$(HOST_ARCH) >.aws-sam/build.log 2>&1 || \
		{ cat .aws-sam/build.log; exit 1; }
	@python tools/finish_build.py .aws-sam/build
	@touch $@

.PHONY: deploy
deploy: $(READY) ## Build and deploy to an AWS account, asking what it needs to know.
	sam build --config-env prod --build-dir .aws-sam/prod --cache-dir .aws-sam/prod-cache
	@python tools/finish_build.py .aws-sam/prod
	sam deploy --guided --config-file $(CURDIR)/samconfig.toml --config-env prod \
		--template-file .aws-sam/prod/template.yaml
