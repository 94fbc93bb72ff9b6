"""What Tacit is compared with: plain float code of published methods, made as strong as they go.

Nothing here is fit to protect anybody: noise comes from a seeded generator, and settings are tuned
on the test rows on purpose, so that no rival can be said to have been set badly.
"""
