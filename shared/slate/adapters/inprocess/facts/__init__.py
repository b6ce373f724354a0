"""Facts in this process, as plain objects: what a year of them comes to is seen in seconds.

The same rules decide as in DynamoDB, and the same contract is kept (tests/contract/test_fact_ports.py). Nothing is
sealed, fenced or kept beyond the process: it is made for simulations, and holds nobody's data.
"""
