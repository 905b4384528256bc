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
SOURCES := $(shell find shared functions -name '*.py' 2>/dev/null)
LAYER := layers/dependencies/requirements.txt

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
	@python -m local.stack start $(if $(DETACH),--detach) $(if $(PORT),--port $(PORT))

.PHONY: stop
stop: $(READY) ## Stop the stack; its data stays.
	@python -m local.stack stop

.PHONY: clean
clean: $(READY) ## Stop the stack and forget its data and every build product.
	@python -m local.stack clean
	@rm -rf .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: demo
demo: $(READY) ## Play the story of a warehouse against the running stack.
	@python -m local.demo

# -- tests and checks --------------------------------------------------------------------------

.PHONY: test
test: $(READY) ## Run the test suite: in-process, no network.
	@pytest $(ARGS)

.PHONY: e2e
e2e: $(READY) ## Drive the deployed local stack over HTTP (starts and stops it when none runs).
	@python -m local.e2e $(ARGS)

.PHONY: check
check: $(READY) ## Format, lint, types, template, and the layer against the lock file.
	ruff format --check
	ruff check
	mypy
	sam validate --lint
	cfn-lint template.yaml
	@diff -u $(LAYER) <(tools/export_layer.sh) || \
		{ echo "$(LAYER) is not what uv.lock says: run 'make lock'." >&2; exit 1; }

.PHONY: bench
bench: $(READY) ## Measure the figures that docs/ quotes.
	@python -m tests.bench $(ARGS)

# -- build and deploy --------------------------------------------------------------------------

.PHONY: lock
lock: $(READY) ## Lock the dependencies again and export the layer's.
	.local/bootstrap/bin/uv lock
	tools/export_layer.sh >$(LAYER)

.PHONY: build
build: .aws-sam/finished.stamp ## Build what is deployed, into .aws-sam/build.

.aws-sam/finished.stamp: $(READY) template.yaml samconfig.toml $(LAYER) tools/finish_build.py $(SOURCES)
	sam build --cached --parallel
	python tools/finish_build.py
	@touch $@

.PHONY: deploy
deploy: build ## Deploy to an AWS account, asking what it needs to know.
	sam deploy --guided --config-env prod
