"""The sweeper's Lambda, started every minute."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.sweeper.sweep import Sweeper

_settings = Settings.from_env(os.environ)
handler = Sweeper(
    build_aws(_settings, boto3.Session(region_name=_settings.region)).sweeping,
    poll_seconds=_settings.sweep_poll_seconds,
    run_seconds=_settings.sweep_run_seconds,
)
