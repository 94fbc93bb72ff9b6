"""The command `tacit`. Heavy rooms are imported inside the commands, so that help is instant."""
