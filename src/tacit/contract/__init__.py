"""What the layers agree on: queries, sensitivities, plans, the gate and releases. No rows here."""
