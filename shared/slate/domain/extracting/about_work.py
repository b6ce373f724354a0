"""What the person works on, as what, for whom, with whom, and with which tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from slate.domain.extracting.drafts import MINOR, Draft, Rule, listed, named, phrase, rule, sentence, withdrawn
from slate.domain.facts.model import Category

VOLATILE: Final = Category.VOLATILE
OTHER: Final = Category.OTHER

_NO_EMPLOYER: Final = re.compile(
    r"^(?:home|night|nights|weekends?|it|this|that|my|your|his|her|their|our|least|all|once|"
    r"first|last|present|times?|the moment|"
    r"hours?|days?|free|fun|money|pay|years?|months?|weeks?|myself|both|making|getting|"
    r"the (?:same|best|weekend|office|end|problem|issue|"
    r"time|other|whole)|being|noon|midnight|\d.*|an? (?:\w+ )?(?:bit|lot|while|time|pace|desk|"
    r"table|distance|speed))\b",
    re.IGNORECASE,
)
_TITLE: Final = (
    r"(?:engineer|developer|programmer|designer|manager|teacher|nurse|doctor|physician|"
    r"surgeon|lawyer|attorney|paralegal|"
    r"accountant|auditor|analyst|scientist|director|consultant|architect|student|writer|"
    r"author|editor|researcher|professor|"
    r"lecturer|electrician|plumber|chef|cook|baker|driver|pilot|founder|co-?founder|ceo|cto|"
    r"cfo|coo|freelancer|librarian|"
    r"journalist|reporter|photographer|artist|musician|translator|interpreter|therapist|"
    r"pharmacist|dentist|veterinarian|vet|"
    r"carpenter|mechanic|technician|assistant|secretary|recruiter|salesperson|salesman|"
    r"saleswoman|marketer|strategist|planner|"
    r"coordinator|officer|firefighter|paramedic|farmer|gardener|florist|barista|bartender|"
    r"waiter|waitress|receptionist|"
    r"administrator|operator|supervisor|lead|tutor|coach|trainer|economist|biologist|chemist|"
    r"physicist|mathematician|"
    r"statistician|historian|philosopher|sociologist|geologist|astronomer|curator|actor|"
    r"actress|dancer|producer|intern|"
    r"apprentice|contractor|entrepreneur|investor|broker|banker|realtor|clerk|cashier|"
    r"specialist|representative|controller|"
    r"owner|partner at \w+|head of [\w ]+|vp of [\w ]+|vice president(?: of [\w ]+)?|"
    r"president|chairman|chair|postdoc|phd student|"
    r"tester|sysadmin|devops|product owner|scrum master|social worker|stay-at-home (?:mom|dad|"
    r"parent)|pensioner|retiree)"
)
_TOOLS: Final = frozenset(
    """
    postgres postgresql mysql mariadb sqlite mongodb redis cassandra dynamodb elasticsearch opensearch kafka
    rabbitmq python java javascript typescript rust go golang kotlin swift scala ruby rails perl php elixir
    erlang haskell clojure c c++ c# f# r julia matlab lua dart flutter react vue angular svelte django flask
    fastapi spring node node.js deno bun docker kubernetes terraform ansible jenkins git github gitlab bitbucket
    jira confluence notion obsidian evernote trello asana linear slack teams zoom discord figma sketch photoshop
    illustrator blender excel word powerpoint sheets outlook gmail thunderbird vim neovim emacs vscode intellij
    pycharm xcode eclipse windows macos linux ubuntu debian fedora arch android ios chrome firefox safari edge
    aws azure gcp heroku vercel netlify cloudflare datadog grafana prometheus snowflake databricks spark airflow
    dbt tableau powerbi looker salesforce hubspot zendesk stripe paypal shopify wordpress quickbooks xero
    pytorch tensorflow pandas numpy jupyter latex bash zsh powershell homebrew nginx apache celery pytest
    graphql dropbox onedrive icloud whatsapp telegram signal
    """.split()  # noqa: SIM905  # a list of words reads as words
)
_NO_TOOL: Final = re.compile(
    r"^(?:it|the|this|that|these|those|my|your|our|his|her|to|them|both|all|some|any|one|two|"
    r"what|more|less|too|as|up|"
    r"public|words?|language|metric|imperial|celsius|fahrenheit|he|she|they|screen|sign|"
    r"wheelchair|hearing|braille|24|12)\b",
    re.IGNORECASE,
)


def _employer(match: re.Match[str]) -> Iterator[Draft]:
    said = re.sub(r"\s+(?:as|in|on|from|near|with|to|since|doing|where)\s.*$", "", match["x"], flags=re.IGNORECASE)
    company = phrase(said, 5) if re.match(r"an? ", said, re.IGNORECASE) else named(match, said, 5)
    if company and not _NO_EMPLOYER.match(company):
        yield Draft(f"Works at {company}", VOLATILE, "employer", company, 6)
    if role := re.search(r"\bas (?:an? |the |their )?(.+)$", match["x"], re.IGNORECASE):
        yield from _as_role(role[1])


def _as_role(text: str) -> Iterator[Draft]:
    title = phrase(re.sub(r"\s+(?:at|for|with|in)\s.*$", "", text), 5)
    if title and not re.match(r"(?:team|group|unit|whole|pair|result|way|charm|treat|one)\b", title, re.IGNORECASE):
        yield Draft(f"Works as {_with_article(title)}", Category.IDENTITY, "role", title, 6)


def _left(match: re.Match[str]) -> Iterator[Draft]:
    company = named(match, re.sub(r"\s+(?:as|in|on|after|because|to)\s.*$", "", match["x"]), 5)
    if company and not _NO_EMPLOYER.match(company):
        yield withdrawn("employer", company, f"No longer works at {company}")


def _jobless(match: re.Match[str]) -> Iterator[Draft]:
    del match
    yield withdrawn("employer", None, "No longer has this employer")


def _self_employed(match: re.Match[str]) -> Iterator[Draft]:
    state = "retired" if "retired" in match[0].lower() else "self-employed"
    yield Draft(f"Is {state}", VOLATILE, "employer", state, 6)


def _role(match: re.Match[str]) -> Iterator[Draft]:
    if re.search(
        r"\b(?:old|long[- ]time|big|huge|good|bad|great|terrible|fan|happy|new|paying|loyal) ",
        f"{match['x']} ",
        re.IGNORECASE,
    ) and not re.search(_TITLE, match["x"], re.IGNORECASE):
        return
    whole = re.sub(r"\s+and\s+.*$", "", match["x"])
    title = phrase(re.sub(r"\s+(?:at|for|with|in|on|from|working|by|who|based)\s.*$", "", whole), 5)
    if not title or not re.search(rf"\b{_TITLE}$", title, re.IGNORECASE):
        return
    yield Draft(f"Works as {_with_article(title)}", Category.IDENTITY, "role", title, 6)
    if at := re.search(r"\s(?:at|for)\s+(?P<x>(?:the )?[A-Z].*)$", whole):
        yield from _employer(at)


def _works_as(match: re.Match[str]) -> Iterator[Draft]:
    return _role(match) if re.search(rf"\b{_TITLE}\b", match["x"], re.IGNORECASE) else _as_role(match["x"])


def _with_article(title: str) -> str:
    if re.match(r"(?:the|a|an|head of|vp|ceo|cto|cfo|coo|vice|chief)\b", title, re.IGNORECASE):
        return title
    return f"an {title}" if title[0].lower() in "aeiou" else f"a {title}"


def _role_named(match: re.Match[str]) -> Iterator[Draft]:
    if title := phrase(re.sub(r"^(?:an? |the |now |to (?:the )?)+", "", match["x"]), 5):
        title = re.sub(r"\s+(?:at|for)\s.*$", "", title)
        yield Draft(f"Works as {_with_article(title)}", Category.IDENTITY, "role", title, 6)


def _team(match: re.Match[str]) -> Iterator[Draft]:
    if team := phrase(match["x"], 4):
        yield Draft(f"Is on the {team} team", VOLATILE, "team", team, 6)


def _team_named(match: re.Match[str]) -> Iterator[Draft]:
    if team := named(match):
        yield Draft(f"Is on the {team} team", VOLATILE, "team", team, 6)


def _leads(match: re.Match[str]) -> Iterator[Draft]:
    if team := phrase(match["x"], 4):
        yield Draft(f"Leads the {team} team", VOLATILE, "team", team, 6)


def _manager(match: re.Match[str]) -> Iterator[Draft]:
    if name := named(match, words=3):
        yield Draft(f"Reports to {name}", VOLATILE, "manager", name)


def _project(match: re.Match[str]) -> Iterator[Draft]:
    if what := named(match, words=6):
        what = re.sub(r"^(?:the|a|an) ", "", what, flags=re.IGNORECASE)
        yield Draft(f"Works on the project {what}", VOLATILE, "project", what, 6)


def _tool_name(text: str) -> str:
    bare = phrase(
        re.sub(
            r"\s+(?:for|to|as|in|on|with|at|over|from|every|when|from|via|since|instead|through|by)\s.*$",
            "",
            f"{text} ",
            flags=re.IGNORECASE,
        ),
        3,
    )
    bare = re.sub(r"^an? (?=[A-Z])", "", bare)
    if not bare or _NO_TOOL.match(bare):
        return ""
    known = bare.lower() in _TOOLS or all(re.search(r"[A-Z\d]", word) for word in bare.split())
    return bare if known else ""


def _tools_in(text: str) -> list[str]:
    bare = re.sub(r"\s+(?:for|to|as|on|with|at|instead of|over|from|every|when)\s.*$", "", text, flags=re.IGNORECASE)
    return [tool for each in listed(bare) if (tool := _tool_name(each))]


def _uses(match: re.Match[str]) -> Iterator[Draft]:
    for tool in _tools_in(match["x"]):
        yield Draft(f"Uses {tool}", OTHER, "tool", tool, topics=("software",))
    if other := re.search(r"\b(?:instead of|rather than|not|no longer)\s+(?P<y>.+)$", match["x"], re.IGNORECASE):
        yield from (withdrawn("tool", tool, f"No longer uses {tool}") for tool in _tools_in(other["y"]))


def _switched(match: re.Match[str]) -> Iterator[Draft]:
    said = f"{match['old'] or ''} {match['new']}".lower()
    if _TOOLS.isdisjoint(re.findall(r"[\w.+#]+", said)):
        return  # it may be a job, a plan, a bank
    if match["old"]:
        yield from (withdrawn("tool", tool, f"No longer uses {tool}") for tool in _tools_in(match["old"]))
    for tool in _tools_in(match["new"]):
        yield Draft(f"Uses {tool}", OTHER, "tool", tool, topics=("software",))


def _uses_no_more(match: re.Match[str]) -> Iterator[Draft]:
    for tool in _tools_in(match["x"]):
        yield withdrawn("tool", tool, f"No longer uses {tool}")


def _own(match: re.Match[str]) -> Iterator[Draft]:
    what, kind = phrase(match["x"], 4), match["what"].lower()
    if what and what[0].isalnum():
        yield Draft(sentence(f"{kind} is {what}"), OTHER, kind.replace(" ", "_"), what, topics=("software",))


def _hobby(match: re.Match[str]) -> Iterator[Draft]:
    verb = match["verb"].lower()
    third = {"practise": "Practises", "practice": "Practices"}.get(verb, f"{verb.capitalize()}s")
    for what in listed(match["x"], 4):
        bare = re.sub(r"\s+(?:in|on|with|every|since|for)\s.*$", "", what)
        if bare and not re.match(r"(?:a role|an? (?:big|important|key)|with|around|it|devil)", bare, re.IGNORECASE):
            yield Draft(f"{third} {bare}", OTHER, "hobby", f"{verb} {re.sub('^the ', '', bare)}", MINOR + 1)


def _field(match: re.Match[str]) -> Iterator[Draft]:
    what = phrase(re.sub(r"\s+(?:at|for|and)\s.*$", "", match["x"]), 3)
    if (
        what
        and what[0].islower()
        and re.fullmatch(r"(?:the )?[a-z][a-z &-]*", what)
        and not re.match(r"(?:the (?:office|morning|evening|city|same)|an?|my|shifts?|person|teams?|two)\b", what)
    ):
        yield Draft(sentence(f"works in {what}"), VOLATILE, "field", what)


RULES: Final[tuple[Rule, ...]] = (
    rule(
        "employer.left",
        _left,
        r"(?:I|I've) (?:don't work (?:at|for)|no longer work (?:at|for)|used to work (?:at|for)|"
        r"quit|resigned from|stopped working (?:at|for)|was laid off (?:from|by)|got fired from|"
        r"was fired from)\s+(?P<x>(?!my\b|the (?:job|company)\b|work\b|home\b|"
        r"the house\b)[A-Z].*)$",
    ),
    rule(
        "employer.none",
        _jobless,
        r"(?:I|I've) (?:quit|left|lost) (?:my|the) (?:job|company|position)|(?:I|I've)(?: got|"
        r" was| been)? laid off\b|I got fired\b|I'm (?:unemployed|out of work|between jobs)\b|"
        r"I don't have a job\b",
    ),
    rule(
        "employer.self",
        _self_employed,
        r"I'm (?:now )?(?:self[- ]employed|retired)\b|I work for myself\b|I(?:'ve)? retired\b|"
        r"I run my own (?:business|company)",
    ),
    rule("team", _team, r"(?:I'm|I work|I am) (?:on|in|part of|a member of) the\s+(?P<x>[\w&/ -]{2,40}?)\s+team\b"),
    rule(
        "team.joined",
        _team,
        r"(?:I|I've) (?:joined|moved to|switched to|transferred to|started (?:on|in|"
        r"with))\s+the\s+(?P<x>[\w&/ -]{2,40}?)\s+team\b",
    ),
    rule(
        "team.leads",
        _leads,
        r"(?:I (?:lead|manage|run|head)|I'm (?:the )?(?:lead|head|manager) of) the\s+"
        r"(?P<x>[\w&/ -]{2,40}?)\s+team\b",
    ),
    rule("team.named", _team_named, r"my (?:new |current )?team(?: is|'s)(?: called)?\s+(?P<x>[A-Z].+)$"),
    rule("role.works", _works_as, r"I (?:work|'m working|'m employed) as\s+(?:an? |the )?(?P<x>.+)$"),
    rule(
        "employer",
        _employer,
        r"(?:I|I've|we)(?:'m)? ?(?:work|working|am working|am employed|'m employed|"
        r"started working|started|joined|began|started a (?:new )?job|got a (?:new )?job|"
        r"took a (?:new )?job|been working|accepted a job)\s+(?:at|for|by)\s+(?P<x>.+)$",
    ),
    rule(
        "employer.joined",
        _employer,
        r"(?:I|I've) joined\s+(?P<x>(?!the\b|a\b|an\b|you|us|them|this|"
        r"my)[A-Z][\w&.' -]*?)(?:\s+as\b.*|\s+last\b.*|\s+this\b.*|\s+in\b.*)?$",
    ),
    rule(
        "employer.named",
        _employer,
        r"my (?:new |current )?(?:employer|company|workplace)(?: is|'s)(?: now)?(?: called)?\s+"
        r"(?P<x>[A-Z].*)$",
    ),
    rule(
        "employer.changed",
        _employer,
        r"(?:I|I've) (?:switched|changed|moved)(?: jobs?| companies|"
        r" employers?)(?: from [\w&.' -]+?)? (?:to|over to)\s+(?P<x>[A-Z].*)$",
    ),
    rule(
        "project",
        _project,
        r"(?:I'm|we're) (?:working on|building|developing)\s+(?:the |a |an )?project\s+(?:called |"
        r"named )?(?P<x>[A-Z][\w -]*)",
        r"(?:I'm|we're) (?:working on|building|developing)\s+(?:the |a |an )?(?P<x>(?!(?:my|our|"
        r"this|that|a|an|another|side|new|big|small|school|personal|"
        r"group) project)[\w -]{2,40}?)\s+project\b",
    ),
    rule(
        "project.named",
        _project,
        r"(?:my|our) (?:new |current |main )?project(?: is|'s)(?: called| named| now)*\s+"
        r"(?P<x>[A-Z].*|the .*)$",
    ),
    rule(
        "manager",
        _manager,
        r"(?:my (?:new |direct )?(?:manager|boss|supervisor|line manager|team lead)(?: is|"
        r"'s)(?: now)?(?: called)?|I report to|I(?: now)? work under)\s+(?P<x>.+)$",
    ),
    rule(
        "role.named",
        _role_named,
        r"my (?:new |current )?(?:role|job|job title|title|position|occupation|profession)(?: is|"
        r"'s)(?: now)?\s+(?P<x>.+)$",
    ),
    rule(
        "role.became", _role, r"(?:I|I've)(?: was| been| got)? (?:promoted to|became|become)\s+(?:an? |the )?(?P<x>.+)$"
    ),
    rule("role", _role, r"I'm (?:now )?(?:an?|the)\s+(?P<x>.+)$"),
    rule("field", _field, r"I work in\s+(?P<x>.+)$"),
    rule(
        "tool.no_more",
        _uses_no_more,
        r"(?:I|we|I've|we've) (?:don't use|no longer use|stopped using|used to use|quit using|"
        r"gave up on|got rid of|abandoned|dropped|have stopped using|am no longer using|"
        r"uninstalled)\s+(?P<x>.+?)(?:\s+anymore.*)?$",
        r"(?:I'm|we're) (?:no longer|not) using\s+(?P<x>.+?)(?:\s+anymore.*)?$",
    ),
    rule(
        "tool.switched",
        _switched,
        r"(?:I|we|I've|we've|I'm|we're)(?: just| have)? (?:switched|migrated|moved everything|"
        r"changed over|moved|upgraded|ported everything)(?:\s+from\s+"
        r"(?P<old>[\w.+# -]+?))?\s+(?:over )?to\s+(?P<new>.+)$",
    ),
    rule(
        "tool",
        _uses,
        r"(?:I|we) (?:use|rely on|(?:write|code|program|develop)(?: code| software| everything|"
        r" mostly)? (?:in|with))\s+(?P<x>.+)$",
        r"(?:I'm|we're) using\s+(?P<x>.+)$",
    ),
    rule(
        "own",
        _own,
        r"my (?:current |new |main )?(?P<what>editor|ide|browser|operating system|os|shell|database|phone model)"
        r"(?: is|'s)(?: now)?\s+(?P<x>.+)$",
    ),
    rule("hobby", _hobby, r"I (?P<verb>play|collect|practi[sc]e)\s+(?P<x>.+)$"),
)
