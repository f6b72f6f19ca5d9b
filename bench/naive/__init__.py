"""Deliberately broken counterparts of what the library does in one step. Nothing here is fit for use."""
