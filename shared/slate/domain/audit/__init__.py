"""Who did what to whose memory, when, in which session: entries without content, in chains that nobody edits unseen."""
