"""Ray: the processes of one scheduler, their start in order and their graceful end. Only here Ray is imported."""
