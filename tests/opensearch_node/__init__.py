"""A real OpenSearch node with k-NN, of the version that the domain runs; it needs a JDK and Maven, and no Docker."""
