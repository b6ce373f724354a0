"""What tests of several kinds share."""

pytest_plugins = ["opensearch_node.fixture"]
