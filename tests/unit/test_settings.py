"""Settings come from a mapping, once, and a bad one is named."""

import pytest

from slate.settings import Settings


def test_settings_survive_the_way_through_an_environment():
    settings = Settings(table="t", ready_shards=4, kms_key_id="k")
    assert Settings.from_env(settings.to_env()) == settings


def test_what_is_not_set_keeps_its_default():
    assert Settings.from_env({"PATH": "/bin"}) == Settings()


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", ""])
def test_a_number_that_is_none_is_refused_by_its_name(value):
    with pytest.raises(ValueError, match="SLATE_READY_SHARDS"):
        Settings.from_env({"SLATE_READY_SHARDS": value})
