"""Golden plans and fits: what Tacit plans and releases, stored, so that no rule changes unseen."""
