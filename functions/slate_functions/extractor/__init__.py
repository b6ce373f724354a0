"""The extractor: works on what was said, from its queue: where segments end, summaries, what sessions leave."""
