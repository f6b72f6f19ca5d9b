"""A private Ray listens on loopback only."""

import os

import psutil
import pytest


@pytest.mark.ray
def test_no_process_of_a_private_ray_listens_beyond_loopback(platform):
    listening = []
    for process in psutil.Process(os.getpid()).children(recursive=True):
        try:
            found = process.net_connections("inet")
        except psutil.Error:
            continue  # it has ended
        listening += [(process.name(), each.laddr.ip) for each in found if each.status == psutil.CONN_LISTEN]
    assert {name for name, _ in listening} >= {"gcs_server", "raylet"}
    assert [each for each in listening if each[1] not in ("127.0.0.1", "::1", "::ffff:127.0.0.1")] == []
