"""For tests of your own: a fresh Slate in this process, its clock in your hands, and a meter of what it costs."""
