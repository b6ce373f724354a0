"""Facts in texts of four languages."""

from __future__ import annotations

from datetime import date

import pytest
from facts import all_facts, amounts, dates, orders, say_amount, say_date
from hypothesis import given
from hypothesis import strategies as st

TODAY = date(2026, 3, 20)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order SO-48213 and so48214, #48215", ["SO-48213", "SO-48214", "SO-48215"]),
        ("Bestellung Nr. 48225", ["SO-48225"]),
        ("la commande n° 48229", ["SO-48229"]),
        ("mi pedido número 48231", ["SO-48231"]),
        ("order 48213, again order #48213", ["SO-48213"]),
        ("10115 Berlin, 48213 people, INV-2026-3310, DE123456789", []),
        ("my order 2026-03-01 was late", []),
    ],
)
def test_an_order_number_is_known_by_the_word_before_it(text, found):
    assert orders(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("89.90 EUR and €34.50", ["89.90 EUR", "34.50 EUR"]),
        ("119,00 € oder 1.299,00 Euro", ["119.00 EUR", "1299.00 EUR"]),
        ("$1,299.00, US$5 and 7 dollars", ["1299.00 USD", "5.00 USD", "7.00 USD"]),
        ("1 299,00 €", ["1299.00 EUR"]),
        ("£76.20", ["76.20 GBP"]),
        ("refund 1,000 now, on 2 March", []),
        ("1,000 EUR", ["1000.00 EUR"]),
        ("48213 129.00 EUR", ["129.00 EUR"]),
        ("89,9 €", ["89.90 EUR"]),
    ],
)
def test_an_amount_names_its_currency_and_its_separators_are_understood(text, found):
    assert amounts(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 2 March and March 10th", ["2026-03-02", "2026-03-10"]),
        ("am 2. März, 09.03.2026 und dem 24. Februar", ["2026-03-02", "2026-03-09", "2026-02-24"]),
        ("le 1er mars 2025", ["2025-03-01"]),
        ("el 12 de marzo de 2026", ["2026-03-12"]),
        ("03/04/2026 or 03/25/2026", ["2026-04-03", "2026-03-25"]),
        ("2026-02-29, 31 February, 31.02.2026", []),
        ("on 30 December", ["2025-12-30"]),
        ("March 11, 2026", ["2026-03-11"]),
        ("we marched 3 miles in 2026, 49.90 EUR", []),
    ],
)
def test_a_date_is_read_in_every_way_it_is_written(text, found):
    assert dates(text, TODAY) == found


@given(st.dates(date(1900, 1, 1), date(2999, 12, 31)), st.sampled_from(["en", "de", "fr", "es"]))
def test_a_date_that_is_said_is_read_back_as_the_same(day, language):
    assert dates(f"x {say_date(day.isoformat(), language)}, x", TODAY) == [day.isoformat()]


@given(
    st.decimals(0, 9_999_999, places=2, allow_nan=False),
    st.sampled_from(["EUR", "USD", "GBP"]),
    st.sampled_from(["en", "de", "fr", "es"]),
)
def test_an_amount_that_is_said_is_read_back_as_the_same(number, currency, language):
    amount = f"{number:.2f} {currency}"
    assert amounts(f"x {say_amount(amount, language)}, x") == [amount]


def test_invoices_and_parcels_are_facts_and_words_are_not():
    text = "INV-2026-3310, 00340434161094042557, 1Z999AA10123456784, RM904432118GB, EVERYTHING, 12345"
    assert all_facts(text, TODAY) == {"INV-2026-3310", "00340434161094042557", "1Z999AA10123456784", "RM904432118GB"}
