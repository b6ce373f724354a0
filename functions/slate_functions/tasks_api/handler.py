"""The Lambda behind the HTTP API. What stands at module scope is made once and serves every request after it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.http.packaged import packaged_document
from slate_functions.http.serving import app_of
from slate_functions.http.telemetry import LambdaObserver
from slate_functions.tasks_api.app import tasks_groups

_settings = Settings.from_env(os.environ)
_slate = build_aws(_settings, boto3.Session(region_name=_settings.region))
_app = app_of(_slate, tasks_groups(_slate, packaged_document), LambdaObserver("tasks-api"))


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Answer one request of payload format 2.0."""
    return _app(event, context)
