"""What is kept alive: members of a group, their health and their restarts."""
