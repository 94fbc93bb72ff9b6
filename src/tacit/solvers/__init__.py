"""Strategies: public code that asks a gate and never sees a record. Outside the wall."""
