"""The Lambda behind the table's stream."""

from __future__ import annotations

import os

import boto3

from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate_functions.events.consume import FeedConsumer

_settings = Settings.from_env(os.environ)
_slate = build_aws(_settings, boto3.Session(region_name=_settings.region))
handler = FeedConsumer(_slate.feeds, _slate.feed_failures, _slate.operate)
