"""Plans and forecasts from public facts. No record is ever seen here."""
