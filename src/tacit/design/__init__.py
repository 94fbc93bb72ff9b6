"""How a record becomes a vector of bounded numbers, in public facts only."""
