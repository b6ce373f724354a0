"""The pinned state as a model reads it, and what a patch of it is refused for."""

import pytest

from slate.domain.errors import Invalid
from slate.domain.pinned import patched, text_of
from slate.domain.sessions import Pinned


def test_what_says_nothing_is_left_out_of_the_text():
    blank = {
        "goal": " ",
        "constraints": [""],
        "entities": {"order": "", "person": None, "items": [], "more": {}},
        "decisions": ["\n"],
        "plan": [{"step": " "}],
    }
    assert text_of(Pinned.model_validate(blank)) == ""
    some = {"constraints": ["", "no email"], "entities": {"order": None, "seats": 0, "trial": False}}
    assert text_of(Pinned.model_validate(some)) == "Constraints:\n- no email\nEntities:\n- seats: 0\n- trial: false"


@pytest.mark.parametrize(
    ("patch", "field", "message"),
    [
        ({"constraints": "x"}, "constraints", "must be a list"),
        ({"entities": "x"}, "entities", "must be an object"),
        ({"plan": ["x"]}, "plan[0]", "must be an object"),
        ({"plan": [{"done": True}]}, "plan[0].step", "required, and not given"),
        ({"plan": [{"step": "x", "done": "half"}]}, "plan[0].done", "must be a valid boolean"),
    ],
)
def test_a_patch_is_refused_in_the_words_that_a_request_is_refused_in(patch, field, message):
    with pytest.raises(Invalid) as refused:
        patched(Pinned(), patch)
    assert refused.value.data["errors"] == [{"field": field, "message": message}]
