"""The command `tacit`. Heavy packages are imported inside the commands, so that help is instant."""
