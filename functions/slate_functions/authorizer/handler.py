"""The authorizer's Lambda: it imports no HTTP framework, since a caller waits for its cold start too."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.authorizer.authorize import Authorizer

_settings = Settings.from_env(os.environ)
handler = Authorizer(build_aws(_settings, boto3.Session(region_name=_settings.region)).recognising)
