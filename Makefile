# Everything runs in .venv, which `make setup` makes from the hashed lock file. No AWS account, no Docker.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.ready
ACCEPTANCE := ../shared/acceptance
# The black-box checks of what is built so far.
ACCEPTANCE_FILES := test_tasks.py test_bad_input.py test_coordination.py test_sessions_context.py test_facts.py test_forgetting.py \
	test_erasure.py test_isolation.py
STAGE ?= dev
# The CLI is Node's; which one is the same for everybody.
CDK_CLI := 2.1148.1
NPX ?= npx --yes
INPUT ?=
LOCOMO ?=

.PHONY: help setup demo opensearch test check acceptance race fuzz bench eval costs tokens synth deploy diff sbom permissions openapi lock serve clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## make .venv with everything

$(READY): requirements/dev.txt requirements/lambda.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Slate needs Python 3.11, 3.12 or 3.13 on the PATH; or: make PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing the locked packages into .venv (a minute or two, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m slate_infra.dependencies
	@touch $@

demo: $(READY) ## a planner and four workers answer customer tickets; one worker is killed midway
	@$(BIN)/python examples/support/run.py $(if $(INPUT),--input "$(INPUT)")

serve: $(READY) ## a local server on port 8080, its keys in keys.json
	@$(BIN)/slate serve --port 8080 --write-keys keys.json

opensearch: $(READY) ## a real OpenSearch node, on a free port or on PORT, until Ctrl-C; it needs a JDK and Maven
	@PYTHONPATH=tests $(BIN)/python -m opensearch_node $(if $(PORT),--port $(PORT))

test: $(READY) ## all tests, on every core
	@$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY) ## format, lint, types, imports, docs
	@$(BIN)/ruff format --check --quiet . || { echo "run: .venv/bin/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/bandit --quiet --configfile pyproject.toml --recursive shared functions infra examples
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest tests/docs

acceptance: $(READY) ## the black-box checks of the HTTP contract, where they are
	@if [ -d $(ACCEPTANCE) ]; then \
		SLATE_SERVE="$(CURDIR)/$(BIN)/slate serve --manual-clock" $(BIN)/python -m pytest -q -c /dev/null \
			-p no:cacheprovider $(addprefix $(ACCEPTANCE)/,$(ACCEPTANCE_FILES)); \
	else echo "no acceptance checks beside this checkout: nothing run"; fi

race: $(READY) ## the long races
	@$(BIN)/python -m pytest -m race --override-ini addopts="-q --import-mode=importlib" --timeout 1800

bench: $(READY) ## claims, contexts and searches: p50 and p95; erasing a person of 1,000 to 100,000 items, or ITEMS
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.bench
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.contexts
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.searches
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.decay
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.opensearch
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.erasures $(if $(ITEMS),--items $(ITEMS))

fuzz: $(READY) ## requests made from the OpenAPI document, 20,000 or CASES of them, against a server of their own
	@PYTHONPATH=tests $(BIN)/python -m fuzzing $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED))

eval: $(READY) ## how well topic shifts are found, and what is recalled of LoCoMo's conversations: make eval LOCOMO=file
	@PYTHONPATH=tests $(BIN)/python -m evals.topics
	@PYTHONPATH=tests $(BIN)/python -m evals.locomo $(LOCOMO)
	@PYTHONPATH=tests $(BIN)/python -m evals.forgetting

costs: $(READY) ## count what each step costs, into docs/costs.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.costs

tokens: $(READY) ## measure the estimate of tokens, into docs/tokens.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.tokens

synth: $(READY) ## the CloudFormation template, into cdk.out
	@rm -rf cdk.out
	@$(BIN)/python -m slate_infra.app

deploy: $(READY) ## deploy a stage by the CDK CLI: make deploy STAGE=dev
	@cd infra && $(NPX) aws-cdk@$(CDK_CLI) deploy -c stage=$(STAGE)

diff: $(READY) ## what a deployment of a stage would change: make diff STAGE=dev
	@cd infra && $(NPX) aws-cdk@$(CDK_CLI) diff -c stage=$(STAGE)

sbom: $(READY) ## what the bundles are made of, as CycloneDX, into build/sbom/slate.cdx.json
	@$(BIN)/python -m slate_infra.sbom build/sbom/slate.cdx.json

permissions: $(READY) ## what each function may do, into docs/permissions.md
	@$(BIN)/python -m slate_infra.permissions_page

openapi: $(READY) ## the OpenAPI document, into docs/openapi.json
	@$(BIN)/python -m slate_functions.local.openapi > docs/openapi.json

COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header
# The runtime brings boto3's family; no function calls by httpx.
NOT_BUNDLED := boto3 botocore s3transfer jmespath urllib3 python-dateutil six httpx httpcore h11 anyio certifi idna

lock: ## the hashed lock files, from pyproject.toml
	@$(COMPILE) --universal --python-version 3.11 --extra dev -o requirements/dev.txt pyproject.toml requirements/build.in
	@$(COMPILE) --python-version 3.13 --python-platform aarch64-manylinux_2_28 --extra server -c requirements/dev.txt \
		$(addprefix --no-emit-package ,$(NOT_BUNDLED)) -o requirements/lambda.txt pyproject.toml
	@$(COMPILE) --python-version 3.13 --python-platform aarch64-manylinux_2_28 -c requirements/dev.txt \
		-o requirements/agent.txt pyproject.toml
	@echo "pip-audit" | $(COMPILE) --universal --python-version 3.13 -c requirements/dev.txt -o requirements/audit.txt -
	@echo "toktok-rs" | $(COMPILE) --python-version 3.13 --python-platform aarch64-manylinux_2_28 -c requirements/dev.txt \
		-o requirements/tokenizer.txt -

clean: ## remove what the targets made
	@rm -rf .venv build cdk.out demo-out .pytest_cache .mypy_cache .ruff_cache
