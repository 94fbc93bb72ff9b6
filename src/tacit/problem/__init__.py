"""Contracts between the rooms, in public facts only: no module here ever sees a row."""
