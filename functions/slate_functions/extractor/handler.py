"""The extractor's Lambda, started by its queue."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.counting.emf import EmfCounts, counting
from slate_functions.extractor.consume import Consumer
from slate_functions.extractor.dispatch import Dispatch

_settings = Settings.from_env(os.environ)
_counts = EmfCounts()
_slate = build_aws(_settings, boto3.Session(region_name=_settings.region), _counts)
handler = counting(_counts, Consumer(Dispatch(_slate)))
