"""A throttle and both hand-overs in the report."""

from bench import report
from tests.bench import worlds
from tests.bench.handoff.figures import metrics
from tests.bench.requeue.figures import requeue
from tests.bench.worlds import cells, ended


def test_a_throttle(tmp_path):
    text = report.write(worlds.results(ended("throttle", requeue(task="burst:<b>"))), tmp_path).read_text()
    assert cells(text, "task")[1:] == ["burst:&lt;b&gt;"]
    assert cells(text, "next start anywhere after")[1:] == ["500 ms"]


def test_both_hand_overs(tmp_path):
    text = report.write(worlds.results(ended("handoff", metrics())), tmp_path).read_text()
    assert cells(text, "orphans")[1:] == ["task-1"]
    assert cells(text, "hand-overs before each")[1:] == ["9 4"]
