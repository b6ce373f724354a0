"""A walk over the whole table for what an index should have: an operator's, who may scan; no function does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from slate.adapters.dynamodb.index_records import Changed, read_change
from slate.adapters.dynamodb.table import PK, SK

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def walk(client: DynamoDBClient, table: str, tenant: str | None = None) -> Iterator[Changed]:
    """Every memory, those of one owner side by side; of one tenant where it is given."""
    request: dict[str, Any] = {
        "TableName": table,
        "ProjectionExpression": "#pk, #sk",
        "ExpressionAttributeNames": {"#pk": PK, "#sk": SK},
    }
    if tenant is not None:
        request |= {
            "FilterExpression": "begins_with(#pk, :tenant)",
            "ExpressionAttributeValues": {":tenant": {"S": f"{tenant}#"}},
        }
    for page in client.get_paginator("scan").paginate(**request):
        for item in page["Items"]:
            change = read_change({"dynamodb": {"Keys": {PK: item[PK], SK: item[SK]}}})
            if change is not None:
                yield change
