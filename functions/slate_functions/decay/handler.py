"""Decay's Lambda, started by its schedule."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring import build_aws
from slate_functions.decay.run import DecayRun

_settings = Settings.from_env(os.environ)
handler = DecayRun(build_aws(_settings, boto3.Session(region_name=_settings.region)).memory.decay)
