"""What the person needs and will not have: allergies, diets, accessibility, contact, what never and what always."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from slate.domain.extracting.drafts import NEED, RULED, Draft, Rule, listed, phrase, rule, sentence, withdrawn
from slate.domain.facts.model import Category

CONSTRAINT: Final = Category.CONSTRAINT

_DIET: Final = (
    r"(?:vegan|vegetarian|pescatarian|flexitarian|omnivore|carnivore|fruitarian|raw vegan|"
    r"plant[- ]based|lacto[- ]vegetarian|"
    r"ovo[- ]vegetarian|keto|ketogenic|paleo|low[- ]carb|mediterranean|whole30|atkins)"
)
_FREE: Final = r"(?P<x>gluten|lactose|dairy|nut|sugar|soy|egg|caffeine|alcohol)[- ]free"
_CREED: Final = r"(?P<x>halal|kosher)"
_MEAT: Final = r"(?:meat|fish|everything|anything|chicken|beef|pork|seafood|red meat|poultry)"
_FOOD: Final = (
    r"(?:(?:red |any )?meat|pork|beef|lamb|chicken|poultry|fish|seafood|shellfish|shrimps?|"
    r"prawns?|dairy|milk|cheese|butter|eggs?|honey|"
    r"gluten|wheat|bread|pasta|nuts|peanuts|tree nuts|almonds|walnuts|hazelnuts|sesame|soya?|"
    r"sugar|garlic|onions?|mushrooms?|tomato(?:es)?|"
    r"spicy food|fried food|fast food|alcohol|wine|beer|coffee|caffeine|tea|carbs|salt|"
    r"gelatine?|cilantro|coriander|olives?|"
    r"bananas?|avocados?|chocolate|anything with [\w ]+)"
)
_NEEDED: Final = (
    r"(?P<x>(?:a |an )?(?:large[- ]print|large(?:r)? (?:text|fonts?)|captions?|"
    r"closed captions|subtitles|braille|sign[- ]language(?: interpreter)?|"
    r"wheelchair(?:[- ]accessible [\w ]+| access| ramp)?|step[- ]free(?: access)?|"
    r"screen[- ]?reader|hearing (?:aids?|loop)|high[- ]contrast(?: [\w ]+)?|"
    r"alt[- ]text|accessible (?:room|seat|parking|entrance|version|bathroom|toilet)s?|"
    r"service dog|guide dog|ground[- ]floor room|ramp|"
    r"white cane|walker|crutches|voice control|text[- ]to[- ]speech|"
    r"keyboard(?:-only)? navigation|an? interpreter|plain language|reduced motion)s?)"
)
_CONDITION: Final = (
    r"(?P<x>(?:legally |partially |completely |red-green )?(?:blind|deaf|colou?r[- ]?blind)|"
    r"visually impaired|hard of hearing|deafblind|"
    r"hearing[- ]impaired|dyslexic|a wheelchair user|low[- ]vision|mute|non-?verbal)"
)
_REACH: Final = (
    r"(?:call|phone|ring|email|e-mail|text|message|contact|disturb|wake|ping|send|write to|"
    r"mail|sms|notify|spam|interrupt|share|sell|publish|"
    r"use|store|post|book|schedule|order|recommend|suggest|mention|charge|ship|deliver|assign|"
    r"invite|tag|add|put|seat|show|offer|delete|cancel)"
)
_ONE_OFF: Final = re.compile(
    r"\b(?:yet|now|it|that|this|these|those|again|worry|here|so far|today|tonight|anything|already)\b|^\W*$",
    re.IGNORECASE,
)
_RELATIVE: Final = (
    r"(?P<who>son|daughter|kid|child|baby|toddler|mother|mom|mum|father|dad|brother|sister|"
    r"grandmother|grandfather|roommate|flatmate|guest|dog|cat)"
)


def _diet(match: re.Match[str]) -> Iterator[Draft]:
    diet = match["x"].lower().replace("-", " ")
    diet = {"ketogenic": "keto", "plant based": "plant-based", "low carb": "low-carb"}.get(diet, diet)
    adjective = diet in (
        "vegan",
        "vegetarian",
        "pescatarian",
        "flexitarian",
        "raw vegan",
        "lacto vegetarian",
        "ovo vegetarian",
    )
    said = f"Is {diet}" if adjective else f"Is an {diet}" if diet == "omnivore" else f"Follows a {diet} diet"
    yield Draft(said, CONSTRAINT, "diet", diet, RULED, topics=("food",))
    if diet == "omnivore":
        yield withdrawn("avoids", "meat", "Eats meat")


def _no_diet(match: re.Match[str]) -> Iterator[Draft]:
    diet = match["x"].lower()
    yield withdrawn("diet", diet, f"Is no longer {diet}")


def _eats_meat(match: re.Match[str]) -> Iterator[Draft]:
    food = match["x"].lower()
    plain = "meat" if food in ("everything", "anything", "red meat") else food
    yield Draft(f"Eats {food}", CONSTRAINT, "diet", f"eats {food}", RULED, topics=("food",))
    yield withdrawn("avoids", plain, f"Eats {food}")


def _eats_again(match: re.Match[str]) -> Iterator[Draft]:
    yield from (withdrawn("avoids", food.lower(), f"Has {food.lower()} again") for food in listed(match["x"]))


def _avoids(match: re.Match[str]) -> Iterator[Draft]:
    foods = [food for food in listed(re.sub(r"^any ", "", match["x"])) if re.fullmatch(_FOOD, food, re.IGNORECASE)]
    for food in foods:
        name = food.lower().removeprefix("any ")
        drinks = re.fullmatch(r"alcohol|wine|beer|coffee|caffeine|tea|milk", name) is not None
        yield Draft(
            f"Does not {'drink' if drinks else 'eat'} {name}", CONSTRAINT, "avoids", name, RULED, topics=("food",)
        )


def _free_from(match: re.Match[str]) -> Iterator[Draft]:
    food = match["x"].lower()
    yield Draft(f"Eats {food}-free", CONSTRAINT, "avoids", food, RULED, topics=("food",))


def _creed(match: re.Match[str]) -> Iterator[Draft]:
    yield Draft(f"Eats {match['x'].lower()}", CONSTRAINT, "food_rules", match["x"].lower(), RULED, topics=("food",))


def _allergens(text: str) -> list[str]:
    bare = re.sub(r"^(?:both|all(?: kinds of)?|any(?: kind of)?|certain|some|eating) ", "", text, flags=re.IGNORECASE)
    return [re.sub(r"^(?:the|my|all|most|any) ", "", each).lower() for each in listed(bare, 4)]


def _allergic(match: re.Match[str]) -> Iterator[Draft]:
    for thing in _allergens(match["x"]):
        yield Draft(f"Is allergic to {thing}", CONSTRAINT, "allergy", thing, NEED)


def _intolerant(match: re.Match[str]) -> Iterator[Draft]:
    thing = match["x"].lower()
    yield Draft(f"Is {thing} intolerant", CONSTRAINT, "allergy", thing, NEED, topics=("food",))


def _coeliac(match: re.Match[str]) -> Iterator[Draft]:
    del match
    yield Draft("Cannot eat gluten (coeliac)", CONSTRAINT, "allergy", "gluten", NEED, topics=("food",))


def _not_allergic(match: re.Match[str]) -> Iterator[Draft]:
    for thing in _allergens(match["x"]):
        yield withdrawn("allergy", thing, f"Is not allergic to {thing}")


def _others_allergy(match: re.Match[str]) -> Iterator[Draft]:
    who = match["who"].lower()
    for thing in _allergens(match["x"]):
        yield Draft(f"{who.capitalize()} is allergic to {thing}", CONSTRAINT, f"allergy of {who}:{thing}", thing, NEED)


def _accessible(match: re.Match[str]) -> Iterator[Draft]:
    what = re.sub(r"^an? ", "", phrase(match["x"], 6) or match["x"], flags=re.IGNORECASE)
    verb = "Uses" if match["verb"].lower().endswith("use") else "Needs"
    article = (
        "a "
        if re.match(r"(?:wheelchair|screen|hearing loop|white cane|walker|service dog|guide dog|ramp)", what)
        and not what.endswith(("access", "s"))
        else ""
    )
    yield Draft(f"{verb} {article}{what.lower()}", CONSTRAINT, "accessibility", what.lower(), NEED)


def _impaired(match: re.Match[str]) -> Iterator[Draft]:
    what = match["x"].lower()
    yield Draft(f"Is {what}", CONSTRAINT, "accessibility", what.removeprefix("a "), NEED)


def _never(match: re.Match[str]) -> Iterator[Draft]:
    rest = match["x"].strip()
    durable = (
        match["how"].lower().startswith("never")
        or "ever" in match["how"].lower()
        or re.search(r"\b(?:me|my|us|our)\b", rest)
    )
    if durable and len(rest.split()) <= 20 and not _ONE_OFF.search(rest):  # noqa: PLR2004  # longer is no rule
        yield Draft(sentence(f"never {match['verb'].lower()} {rest}"), CONSTRAINT, importance=RULED)


def _always(match: re.Match[str]) -> Iterator[Draft]:
    rest = match["x"].strip()
    if len(rest.split()) <= 20 and not re.search(r"\b(?:it|that|this one)\b", rest):  # noqa: PLR2004  # as above
        yield Draft(sentence(f"always {match['verb'].lower()} {rest}"), CONSTRAINT, importance=RULED)


def _cannot(match: re.Match[str]) -> Iterator[Draft]:
    what = phrase(match["x"], 8)
    if what and not _ONE_OFF.search(what):
        yield Draft(f"Cannot {match['verb'].lower()} {what}", CONSTRAINT, importance=RULED)


def _only(match: re.Match[str]) -> Iterator[Draft]:
    what = phrase(match["x"], 8)
    verb = match["verb"].lower()
    third = {"fly": "flies", "eat": "eats", "drink": "drinks", "travel": "travels"}.get(verb, f"{verb}s")
    if what and not _ONE_OFF.search(what):
        yield Draft(f"Only {third} {what}", CONSTRAINT, importance=RULED)


def _no_do(match: re.Match[str]) -> Iterator[Draft]:
    yield Draft(f"Does not {match['x'].lower()}", CONSTRAINT, f"does:{match['x'].lower()}", "no", RULED)


def _budget(match: re.Match[str]) -> Iterator[Draft]:
    if what := phrase(match["x"], 8):
        yield Draft(f"Budget is {what}", CONSTRAINT, "budget", what, RULED)


def _unavailable(match: re.Match[str]) -> Iterator[Draft]:
    if when := re.match(
        r"(?:on )?((?:mon|tues|wednes|thurs|fri|satur|sun)days?(?:(?:,| and| or|,? & ?)+ ?(?:mon|"
        r"tues|wednes|thurs|fri|satur|sun)days?)*|weekends?|(?:before|after) \d[\w: ]*|"
        r"(?:in the )?(?:mornings?|evenings?|afternoons?))",
        match["x"],
        re.IGNORECASE,
    ):
        yield Draft(f"Is not available {when[0]}", CONSTRAINT, importance=RULED)


_FOODS: Final = rf"(?P<x>{_FOOD}(?:(?:,? (?:and|or|nor) |, ){_FOOD})*)(?![- ]free\b)"
_EATER: Final = r"(?:I|I've|we)"

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "allergy.none",
        _not_allergic,
        r"(?:I'm|I am) (?:not|no longer)(?: actually)? allergic to\s+(?P<x>.+)$",
        r"I (?:don't have|no longer have|outgrew|have outgrown) (?:an? |"
        r"my )?(?P<x>[\w ]+?) allergy\b",
        r"my (?P<x>[\w ]+?) allergy (?:is gone|went away|has gone|is cured)\b",
        r"I(?:'ve| have)? outgrown? my (?P<x>[\w ]+?) allergy\b",
    ),
    rule(
        "allergy",
        _allergic,
        r"(?:I'm|we're) (?:\w+ )?allergic to\s+(?P<x>.+)$",
        r"I(?:'ve| have| got|'ve got) (?:an? )?(?:\w+ )?allergy to\s+(?P<x>.+)$",
        r"my allerg(?:y is|ies are)(?: to)?\s+(?P<x>.+)$",
        r"I(?:'ve| have|'ve got| suffer from) (?:an? )?(?:severe |bad |mild |strong |serious |"
        r"life-threatening )?(?P<x>(?!food\b|an?\b|no\b|severe\b|skin\b)[\w ]{2,30}?) allerg(?:y|"
        r"ies)\b",
        r"I get anaphyla\w+ from\s+(?P<x>.+)$",
    ),
    rule(
        "allergy.other",
        _others_allergy,
        rf"(?:my|our) (?:\w+ )?{_RELATIVE}(?: [A-Z]\w+)?(?: is|'s) (?:\w+ )?allergic to\s+(?P<x>.+)$",
        rf"(?:my|our) {_RELATIVE} has an? (?:\w+ )?(?P<x>[\w]+) allergy\b",
    ),
    rule(
        "intolerance",
        _intolerant,
        r"I'm (?:\w+ )?(?P<x>lactose|gluten|fructose|histamine|dairy|wheat)[- ]intolerant",
        r"I(?:'ve| have) (?:an? )?(?P<x>lactose|gluten|fructose|histamine|dairy|wheat) intolerance",
    ),
    rule("coeliac", _coeliac, r"(?:I'm|I have|I've(?: got)?) (?:a )?c(?:o)?eliac\b"),
    rule(
        "diet.none",
        _no_diet,
        rf"I'm (?:not|no longer)(?: an?)?(?: strict(?:ly)?)?\s+(?P<x>{_DIET})\b",
        rf"I (?:gave up|stopped) being (?:an? )?(?P<x>{_DIET})\b",
        rf"I (?:don't|no longer) (?:follow|eat|do) (?:an? |the )?(?P<x>{_DIET})\b",
        rf"I used to be (?:an? )?(?P<x>{_DIET})\b",
        rf"I (?:quit|left|stopped|gave up) (?:the |my )?(?P<x>{_DIET})(?: diet)?\b",
    ),
    rule(
        "diet",
        _diet,
        rf"(?:I'm|we're|I've (?:become|gone|been)|I (?:became|went|turned|go|"
        rf"have become))(?: an?)?(?: (?:strict|strictly|committed|lifelong|now|mostly|fully))*\s+"
        rf"(?P<x>{_DIET})s?\b(?!\s+(?:restaurant|place|food|recipe|cook|chef))",
        rf"as an? (?:strict )?(?P<x>{_DIET})$",
        rf"I (?:need|only eat|require|always order) (?P<x>{_DIET}) (?:meals?|food|options?|dishes)\b",
        rf"(?:I (?:eat|follow|keep|am on|do|stick to|switched to|changed to)|I'm (?:on|following|"
        rf"eating|doing)|I've (?:switched|changed) to)(?: an?| the)?(?: strict(?:ly)?)?\s+"
        rf"(?P<x>{_DIET})\b",
    ),
    rule(
        "diet.free.none",
        _eats_again,
        r"I (?:no longer|don't) (?:eat|need|follow|keep) (?:an? )?(?P<x>gluten|lactose|dairy|nut|"
        r"sugar|soy|egg)[- ]free\b",
        r"I'm (?:no longer|not) (?:on (?:an? )?|eating )?(?P<x>gluten|lactose|dairy|nut|sugar|soy|egg)[- ]free\b",
    ),
    rule(
        "diet.free",
        _free_from,
        rf"(?:I (?:eat|am|need|keep|follow|must eat|have to eat)|I'm(?: on|"
        rf" eating)?)(?: an?)?(?: strict(?:ly)?)?\s+{_FREE}\b",
    ),
    rule(
        "diet.creed",
        _creed,
        rf"(?:I (?:only )?(?:eat|keep|need|follow)|I'm|we (?:eat|"
        rf"keep))(?: an?)?(?: strict(?:ly)?)?\s+{_CREED}\b",
    ),
    rule(
        "avoids",
        _avoids,
        rf"{_EATER} (?:don't eat|don't drink|can't eat|can't have|can't drink|can't stand eating|"
        rf"never eat|never drink|avoid(?: eating| drinking)?|no longer eat|no longer drink|"
        rf"stopped eating|stopped drinking|quit eating|quit drinking|quit|gave up|don't touch|"
        rf"have given up|'ve given up|won't eat|am not allowed to eat)\s+(?:any )?{_FOODS}\b",
        rf"(?:I'm|I am) (?:not eating|not drinking|avoiding|not allowed to eat|"
        rf"off)\s+(?:any )?{_FOODS}\b",
    ),
    rule(
        "diet.meat",
        _eats_meat,
        rf"(?:I|I've|we) (?:do )?(?:eat|started eating|started to eat|went back to eating|"
        rf"am eating|can eat|began eating|resumed eating)\s+(?P<x>{_MEAT})(?:\s+(?:now|again|"
        rf"these days|too|as well|once more|anymore|since .+|from now on|nowadays|sometimes|"
        rf"occasionally))*$",
        rf"I'm eating\s+(?P<x>{_MEAT})\s+(?:now|again|these days)\b",
    ),
    rule(
        "avoids.none",
        _eats_again,
        rf"(?:I|I've) (?:eat|drink|have|started eating|started drinking|can eat|can drink|"
        rf"went back to eating|went back to drinking)\s+{_FOODS}\s+(?:now|again|these days|anymore|"
        rf"once more)\b",
        rf"I'm (?:eating|drinking)\s+{_FOODS}\s+(?:now|again|these days)\b",
    ),
    rule(
        "accessibility",
        _accessible,
        rf"(?P<verb>I use|I need|I rely on|I require|we need)\s+(?:to have |to use )?{_NEEDED}\b",
    ),
    rule("accessibility.is", _impaired, rf"I'm {_CONDITION}\b(?!\s+(?:to|in this|sided))"),
    rule(
        "budget",
        _budget,
        r"(?:my|our) (?:max(?:imum)? |total |monthly |annual )?budget(?: is|"
        r"'s)(?: now)?(?: around| about| up to)?\s+(?P<x>.*\d.*)$",
    ),
    rule(
        "unavailable",
        _unavailable,
        r"I'm (?:not|never|un)\s?available\s+(?P<x>.+)$",
        r"I (?:can't|don't) (?:meet|work|take calls|do meetings|do calls)\s+(?P<x>.+)$",
    ),
    rule(
        "cannot",
        _cannot,
        r"I can't (?P<verb>drive|fly|swim|climb|lift|travel|read|hear|see|use|access|"
        r"attend|carry)\s+(?P<x>.+)$",
    ),
    rule(
        "does_not",
        _no_do,
        r"I (?:don't|can't|never) (?P<x>drive|fly|smoke|drink|swim|gamble)(?:\s+(?:anymore|at all|"
        r"ever))?$",
    ),
    rule(
        "only",
        _only,
        r"I (?:can )?only (?P<verb>fly|travel|eat|drink|work|buy|accept|pay|ship|wear|read|take|"
        r"shop)\s+(?P<x>.+)$",
    ),
    rule(
        "never",
        _never,
        rf"(?:you (?:must|should|may|can) )?(?P<how>never ever|never|don't ever|don't|must not|"
        rf"may not)\s+(?P<verb>{_REACH})\b\s*(?P<x>.+)$",
        rf"I (?P<how>never) want you to (?P<verb>{_REACH})\b\s*(?P<x>.+)$",
    ),
    rule(
        "always",
        _always,
        rf"(?:you (?:must|should) )?always (?P<verb>{_REACH}|ask|check with|confirm with|consult|"
        rf"copy|cc|include|address|answer|reply|respond|tell|warn)\b\s*(?P<x>.*\b(?:me|my|us|our|I|"
        rf"I'm)\b.*)$",
    ),
)
