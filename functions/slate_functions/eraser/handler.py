"""The eraser's Lambda, started by its schedule, and at once by whoever asks for an erasure."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.counting.emf import EmfCounts, counting
from slate_functions.scheduled.run import ScheduledRun

_settings = Settings.from_env(os.environ)
_counts = EmfCounts()
_slate = build_aws(_settings, boto3.Session(region_name=_settings.region), _counts)
_privacy = _slate.privacy
handler = counting(_counts, ScheduledRun(_privacy.holds, _privacy.eraser, _privacy.deadlines))
