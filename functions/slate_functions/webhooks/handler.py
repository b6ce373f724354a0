"""The webhooks' Lambda, started by its queue."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.webhooks.consume import Consumer

BATCH: Final = 10
"""As many messages as a batch has."""

_settings = Settings.from_env(os.environ)
handler = Consumer(
    build_aws(_settings, boto3.Session(region_name=_settings.region)).delivering, ThreadPoolExecutor(BATCH)
)
