"""The memory API: sessions, contexts, what is known of subjects, and the tenant that it is kept for."""
