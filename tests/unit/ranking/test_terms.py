"""What of a text is matched, in any script."""

import pytest

from slate.domain.ranking.stems import stemmed
from slate.domain.ranking.terms import asked, capitalised, covered, possible_names, terms, without


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("rational", "ration"),
        ("formative", "form"),
        ("electricity", "electr"),
        ("adoption", "adopt"),
        ("communism", "commun"),
        ("controller", "control"),
        ("generalizations", "gener"),
    ],
)
def test_stems_are_porters(word: str, stem: str):
    assert stemmed(word) == stem


@pytest.mark.parametrize("word", ["größe", "乌龙", "x1", "a" * 60, "", "s", "'s"])
def test_what_is_no_english_word_stays(word: str):
    assert stemmed(word) == word.replace("'s", "").replace("'", "")


def test_the_words_that_carry_content_are_left():
    assert terms("What did Caroline research about adoption agencies?") == ["carolin", "research", "adopt", "agenc"]


def test_scripts_without_spaces_are_pairs_and_signs_count():
    assert terms("喜欢乌龙茶") == ["喜欢", "欢乌", "乌龙", "龙茶"]
    assert terms("a 🦔") == ["🦔"]
    assert asked("🦔") == ["🦔"]
    assert terms("50 €") == ["50", "€"]


def test_wildcards_are_no_terms():
    assert terms("* % _ ? ~") == []
    assert terms("_wild*cards_") == ["wild", "card"]


def test_a_query_of_nothing_but_common_words_still_asks():
    assert asked("what is it?") == ["what", "is", "it"]
    assert asked("?!") == []


def test_a_long_text_is_bounded():
    assert len(terms("wort " * 100_000)) == 3_000


def test_names_are_capitalised_and_not_the_first_of_a_sentence():
    assert capitalised("Today Ann met Bob's aunt. Where? In Rome!") == {"ann", "bob", "rome"}
    assert possible_names("Where did Ann's aunt meet Ann?") == ["where", "ann"]


def test_a_query_without_its_names_is_itself_where_nothing_else_is_in_it():
    assert without("What did Ann's aunt buy?", {"ann"}) == "What did aunt buy?"
    assert without("Ann", {"ann"}) == "Ann"


def test_all_needed_terms_cover_and_none_cover_nothing():
    assert covered(["a", "b"], {"a", "b", "c"})
    assert not covered(["a", "d"], {"a"})
    assert not covered([], {"a"})
