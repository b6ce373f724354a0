"""The process of a function: AWS in memory, and then the runtime client, which imports the handler and never returns.

Usage: python -m lambda_runtime.launch HANDLER, with the environment that Lambda gives.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import boto3
from awslambdaric import bootstrap
from awslambdaric.lambda_runtime_client import LambdaRuntimeClient

from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.contract.access import CreateKey
from slate.domain.access import Scope
from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate.wiring.local import create_storage


def main() -> None:
    """Make the storage that the settings name, and a key for whoever asks; then serve."""
    settings = Settings.from_env(os.environ)
    with MotoEngine(region=settings.region) as engine:
        create_storage(engine.client("dynamodb"), engine.client("s3"), settings)
        key_id = engine.client("kms").create_key()["KeyMetadata"]["KeyId"]
        settings = replace(settings, kms_key_id=key_id)
        os.environ.update(settings.to_env())
        body = CreateKey(agent="planner", scopes=tuple(Scope))
        made = build_aws(settings, boto3.Session(region_name=settings.region)).access.issue(
            "acme", body, made_by="test", key_id="k-1"
        )
        Path(os.environ["CREDENTIAL_FILE"]).write_text(json.dumps(made.key))
        bootstrap.run(sys.argv[1], LambdaRuntimeClient(os.environ["AWS_LAMBDA_RUNTIME_API"], False))


if __name__ == "__main__":
    main()
