"""The authorizer's Lambda: it imports no more than it needs, since a caller waits for its cold start too."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring.recognition import build_recognising
from slate_functions.authorizer.authorize import Authorizer

_settings = Settings.from_env(os.environ)
handler = Authorizer(build_recognising(_settings, boto3.Session(region_name=_settings.region)))
