"""The index in an OpenSearch domain: words and vectors, derived from the storage and checked against it."""
