"""What is known about a person, and the rules by which it is let in, kept true and taken back.

A statement passes ``screening`` (is it a statement, is it safe, does it last, may it be kept), then ``timeline``
decides it against its slot: what was said of one thing, in the order in which it was observed, whatever the order in
which it arrived.
"""
