"""Whatever is read as an instant can be written, and reads as the same again."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from slate.domain.instants import FIRST_INSTANT, FROM_OUTSIDE, LAST_INSTANT, Instant, format_instant, parse_instant

OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.integers(FIRST_INSTANT, LAST_INSTANT))
def test_what_is_written_reads_as_it_was(ms: int):
    assert parse_instant(format_instant(ms)) == ms


@given(st.datetimes(timezones=OFFSETS))
def test_what_is_read_can_be_written(moment: datetime):
    utc = moment.replace(tzinfo=UTC) - moment.utcoffset() if _fits(moment) else None
    if utc is None:
        with pytest.raises(ValueError, match="between the years"):
            parse_instant(moment.isoformat())
        return
    ms = parse_instant(moment.isoformat())
    assert parse_instant(format_instant(ms)) == ms
    assert format_instant(ms)[:19] == utc.isoformat()[:19]


def _fits(moment: datetime) -> bool:
    try:
        _ = moment.replace(tzinfo=UTC) - moment.utcoffset()
    except OverflowError:
        return False
    return True


@pytest.mark.parametrize("text", ["0350-10-02T00:28:54Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
def test_a_year_has_four_digits(text: str):
    assert format_instant(parse_instant(text))[:19] == text[:19]


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"])
def test_a_time_that_utc_cannot_say_is_refused(text: str):
    with pytest.raises(ValueError, match="between the years"):
        parse_instant(text)


class _Said(BaseModel):
    at: Instant


@pytest.mark.parametrize("sent", ["100000000000000000000", "true", "0", "1.5", '"noon"', '"2026-11-30T12:00:00"'])
def test_on_the_wire_it_is_a_text_and_nothing_else(sent: str):
    with pytest.raises(ValidationError, match="time"):
        _Said.model_validate_json(f'{{"at": {sent}}}')
    with pytest.raises(ValidationError, match="time"):
        _Said.model_validate({"at": json.loads(sent)}, context=FROM_OUTSIDE)


def test_in_code_it_is_a_number_that_can_be_written():
    assert _Said(at=0).model_dump(mode="json") == {"at": "1970-01-01T00:00:00.000Z"}
    with pytest.raises(ValidationError):
        _Said(at=LAST_INSTANT + 1)
