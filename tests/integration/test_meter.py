"""The meter on a real client: each figure follows from the item sizes given here and AWS's published rules."""

from contextlib import suppress
from itertools import count

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from slate.adapters.dynamodb.table import IndexSpec, TableSpec
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.testing.meter import Meter

_numbers = count()


@pytest.fixture(scope="module")
def client():
    with MotoEngine() as engine:
        yield engine.client("dynamodb")


@pytest.fixture
def table(client):
    name = f"metered-{next(_numbers)}"
    client.create_table(**TableSpec(name="t", indexes=(IndexSpec("due", "kind", "due"),)).create_arguments(name))
    return name


@pytest.fixture
def measure(client):
    return Meter(client).measure


def key(sk):
    return {"pk": {"S": "p"}, "sk": {"S": sk}}


def item(sk, size, **more):
    """An item of so many bytes; its key is 6 of them, or more for a longer sort key."""
    content = size - (2 + 1 + 2 + len(sk)) - 4 - sum(len(n) + len(v["S"]) for n, v in more.items())
    return {**key(sk), "said": {"S": "x" * content}, **more}


def figures(cost):
    return cost.calls, cost.reads, cost.writes


def refused(call, **arguments):
    with pytest.raises(ClientError):
        call(**arguments)


def test_nothing_is_counted_outside_a_measurement(client, table, measure):
    with measure() as cost:
        pass
    client.put_item(TableName=table, Item=item("a", 100))
    assert figures(cost) == (0, 0, 0)


def test_a_read_costs_by_the_whole_item_however_little_of_it_is_shown(client, table, measure):
    client.put_item(TableName=table, Item=item("a", 4_097))
    with measure() as cost:
        client.get_item(TableName=table, Key=key("a"), ConsistentRead=True, ProjectionExpression="sk")
        client.get_item(TableName=table, Key=key("a"))
    assert figures(cost) == (2, 2 + 1, 0)


def test_reading_what_is_not_there_costs_a_unit(client, table, measure):
    with measure() as cost:
        client.get_item(TableName=table, Key=key("none"), ConsistentRead=True)
        client.get_item(TableName=table, Key=key("none"))
        asked = {
            "TableName": table,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "-"}},
        }
        client.query(**asked)
        client.query(**asked, ConsistentRead=True)
    assert figures(cost) == (4, 1 + 0.5 + 0.5 + 1, 0)


def test_a_batch_reads_each_item_by_itself(client, table, measure):
    client.put_item(TableName=table, Item=item("a", 1_500))
    client.put_item(TableName=table, Item=item("b", 6_500))
    keys = [key("a"), key("b"), key("none")]
    with measure() as cost:
        client.batch_get_item(RequestItems={table: {"Keys": keys, "ConsistentRead": True}})
        client.batch_get_item(RequestItems={table: {"Keys": keys}})
        client.transact_get_items(TransactItems=[{"Get": {"TableName": table, "Key": k}} for k in keys])
    assert cost.by_operation["BatchGetItem"].reads == (1 + 2 + 1) * 1.5
    assert cost.by_operation["TransactGetItems"].reads == (1 + 2 + 1) * 2


def test_a_query_reads_its_items_together_also_those_it_does_not_show(client, table, measure):
    for n in range(10):
        client.put_item(TableName=table, Item=item(f"a{n}", 1_000))
    asked = {
        "TableName": table,
        "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": {"#pk": "pk"},
        "ExpressionAttributeValues": {":pk": {"S": "p"}},
    }
    narrow = {
        **asked,
        "ConsistentRead": True,
        "ProjectionExpression": "#sk",
        "FilterExpression": "#sk > :last",
        "ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk"},
        "ExpressionAttributeValues": {":pk": {"S": "p"}, ":last": {"S": "a8"}},
    }
    with measure() as cost:
        client.query(**asked)
        assert client.query(**narrow)["Items"] == [{"sk": {"S": "a9"}}]
        client.query(**asked, Limit=5, ConsistentRead=True)
        client.query(**asked, Select="COUNT")
        client.scan(TableName=table, ConsistentRead=True)
    assert figures(cost) == (5, 1.5 + 3 + 2 + 1.5 + 3, 0)


def test_a_query_of_an_index_reads_its_entries_alone(client, table, measure):
    for n in range(20):
        client.put_item(TableName=table, Item=item(f"a{n}", 4_000, kind={"S": "k"}, due={"S": f"{n:03}"}))
    with measure() as cost:
        client.query(
            TableName=table,
            IndexName="due",
            KeyConditionExpression="kind = :k",
            ExpressionAttributeValues={":k": {"S": "k"}},
        )
    assert figures(cost) == (1, 0.5, 0)


def test_a_write_costs_by_the_larger_of_before_and_after(client, table, measure):
    with measure() as cost:
        client.put_item(TableName=table, Item=item("a", 2_049))
        client.put_item(TableName=table, Item=item("a", 100))
        client.delete_item(TableName=table, Key=key("a"))
        client.delete_item(TableName=table, Key=key("a"))
    assert figures(cost) == (4, 0, 3 + 3 + 1 + 1)
    assert [cost.by_operation[name].writes for name in ("PutItem", "DeleteItem")] == [6, 2]


def test_a_refused_condition_costs_as_much_as_the_write(client, table, measure):
    client.put_item(TableName=table, Item=item("a", 3_000))
    change = {"UpdateExpression": "SET n = :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    with measure() as cost:
        refused(
            client.update_item, TableName=table, Key=key("a"), ConditionExpression="attribute_exists(absent)", **change
        )
        refused(client.update_item, TableName=table, Key=key("b"), ConditionExpression="attribute_exists(pk)", **change)
        new = item("a", 3_100)
        refused(client.put_item, TableName=table, Item=new, ConditionExpression="attribute_not_exists(pk)")
    assert figures(cost) == (3, 0, 3 + 1 + 4)


def test_an_index_entry_costs_when_it_comes_moves_and_goes(client, table, measure):
    client.put_item(TableName=table, Item=item("a", 100))

    def update(expression, **values):
        wire = {f":{name}": {"S": value} for name, value in values.items()}
        more = {"ExpressionAttributeValues": wire} if wire else {}
        with measure() as cost:
            client.update_item(TableName=table, Key=key("a"), UpdateExpression=expression, **more)
        return cost.writes

    assert update("SET kind = :k", k="k") == 1
    assert update("SET due = :a", a="1") == 1 + 1
    assert update("SET said = :s", s="other") == 1
    assert update("SET due = :a", a="2") == 1 + 2
    assert update("REMOVE kind") == 1 + 1


def test_a_transaction_doubles_every_item_and_no_index(client, table, measure):
    client.put_item(TableName=table, Item=item("a", 1_500))
    client.put_item(TableName=table, Item=item("b", 100))
    exists = {"TableName": table, "ConditionExpression": "attribute_exists(pk)"}
    writes = [
        {"ConditionCheck": {**exists, "Key": key("a")}},
        {"Delete": {"TableName": table, "Key": key("b")}},
        {"Put": {"TableName": table, "Item": item("c", 100, kind={"S": "k"}, due={"S": "1"})}},
    ]
    with measure() as cost:
        client.transact_write_items(TransactItems=writes)
        refused(client.transact_write_items, TransactItems=[{"ConditionCheck": {**exists, "Key": key("b")}}])
    assert figures(cost) == (2, 0, 2 * (2 + 1 + 1) + 1 + 2 * 1)


def test_a_batch_of_writes_costs_as_its_writes(client, table, measure):
    client.put_item(TableName=table, Item=item("a", 2_000))
    requests = [{"DeleteRequest": {"Key": key("a")}}, {"PutRequest": {"Item": item("b", 1_025)}}]
    with measure() as cost:
        client.batch_write_item(RequestItems={table: requests})
    assert figures(cost) == (1, 0, 2 + 2)


def test_a_call_that_touches_no_item_counts_without_units(client, table, measure):
    with measure() as cost:
        client.describe_table(TableName=table)
        refused(client.put_item, TableName="missing", Item=item("a", 100))
        refused(client.get_item, TableName="missing", Key=key("a"))
        with pytest.raises(ParamValidationError):
            client.put_item(TableName=table, Item=7)
    assert figures(cost) == (3, 0, 0)


def test_partiql_is_refused_rather_than_counted_wrong(client, measure):
    with measure(), pytest.raises(ValueError, match="PartiQL"):
        client.execute_statement(Statement='SELECT * FROM "t"')


def test_measurements_nest_and_end_with_their_with(client, table, measure):
    with measure() as outer:
        client.put_item(TableName=table, Item=item("a", 100))
        with suppress(RuntimeError), measure() as inner:
            client.delete_item(TableName=table, Key=key("a"))
            raise RuntimeError
        client.put_item(TableName=table, Item=item("a", 100))
    client.put_item(TableName=table, Item=item("a", 100))
    assert (figures(outer), figures(inner)) == ((3, 0, 3), (1, 0, 1))


def test_a_users_own_flow_is_measured_through_the_fixture(fresh_slate):
    client = fresh_slate.client()
    client.create_graph("g", [{"task_id": "a", "title": "a", "role": "writer"}], graph_id="g")
    with fresh_slate.meter() as cost:
        client.task("g", "a")
    assert figures(cost) == (1, 2, 0)
    assert dict(cost.by_operation).keys() == {"BatchGetItem"}
