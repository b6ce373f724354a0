"""Puts Slate together: the only package that picks adapters.

``aws.build_aws`` is what the Lambdas run; ``local.build_local`` is the same service over moto in this process. Both
hand every dependency to ``assembling.assemble``, and so may a test, with a clock, a randomness or a client of its own.
"""
