"""Races: controllers that decide at the same instant, in two steps and in one."""
