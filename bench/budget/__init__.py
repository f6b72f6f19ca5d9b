"""Budgets and windows of starts: what a budget lets through, and what a window holds back."""
