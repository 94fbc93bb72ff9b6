"""The one place where records, noise and budget meet: plan, reserve, run, release."""
