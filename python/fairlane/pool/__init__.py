"""Workers as a pool: who gets the next task, who is well, who is restarted. Loads neither Ray nor Redis."""
