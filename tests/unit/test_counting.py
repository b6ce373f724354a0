import io
import json
import re
from pathlib import Path

import pytest

from slate.adapters.inprocess.counts import ProcessCounts
from slate.ports.counts import Count
from slate_functions.counting.emf import EmfCounts, counting


def lines(out):
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_invocation_is_summed_to_a_line_for_each_part_however_it_ends():
    out = io.StringIO()
    counts = EmfCounts(out, lambda: 12.0)

    def handler(event, _):
        counts.add(Count.FORGOTTEN, 2, by="decay")
        counts.add(Count.FORGOTTEN, by="decay")
        counts.add(Count.LAG, 1.5)
        counts.add(Count.USED, 0)
        return event["answer"]

    run = counting(counts, handler)
    assert run({"answer": 7}, None) == 7
    by_part, whole = lines(out)
    assert (by_part["facts_forgotten"], by_part["by"], whole["decay_lag_seconds"]) == (3, "decay", 1.5)
    told = by_part["_aws"]["CloudWatchMetrics"][0]
    assert told["Dimensions"] == [["service"], ["service", "by"]]
    assert {name for dimensions in told["Dimensions"] for name in dimensions} <= by_part.keys()
    assert whole["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [{"Name": "decay_lag_seconds", "Unit": "Seconds"}]
    with pytest.raises(KeyError):
        run({}, None)
    assert len(lines(out)) == 4


def test_prometheus_text_has_every_count_and_each_part():
    counts = ProcessCounts()
    counts.add(Count.LAG, 1.5)
    counts.add(Count.FORGOTTEN, by="decay")
    counts.add(Count.FORGOTTEN, 2, by="evicted")
    text = counts.prometheus()
    assert 'slate_facts_forgotten_total{by="decay"} 1\nslate_facts_forgotten_total{by="evicted"} 2\n' in text
    assert "slate_decay_lag_seconds_total 1.5\n" in text
    assert "slate_facts_used_total 0\n" in text
    assert counts.value(Count.FORGOTTEN) == 3


def test_the_example_dashboard_shows_what_is_counted():
    dashboard = (Path(__file__).parents[2] / "docs" / "grafana" / "forgetting.json").read_text()
    shown = set(re.findall(r"slate_(\w+)_total", dashboard))
    assert len(shown) > 10
    assert shown <= {count.value for count in Count}
