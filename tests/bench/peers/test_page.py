"""The page and the file show what was measured, what was missed and what was left out."""

from bench.peers.results import RESULTS_NAME, Failure, PeerResults, Skipped
from bench.peers.roster import FAIRLANE, PEERS
from bench.peers.tables import render
from tests.bench.peers.samples import BULLMQ, compared, measured, turn
from tests.bench.worlds import cells

SLOW = turn({3: 100.0}, [2.0] * 10)
FAST = measured(FAIRLANE, turn({3: 400.0, 100: 200.0}, [1.0] * 10), beside=[SLOW])
BESIDE = measured(BULLMQ, SLOW, beside=[SLOW])


def test_a_load_is_one_row_with_its_ratio():
    page = render(compared([FAST, BESIDE]))
    assert cells(page, "Fairlane")[1:6] == ["3", "1,000", "400", "400", "4.00 ×"]
    assert cells(page, "BullMQ  ")[1:6] == ["–", "1,000", "100", "100", "1.00 ×"]


def test_a_missed_goal_is_plain_and_delivery_is_apart():
    page = render(compared([FAST, BESIDE]))
    assert "**Delivery is exact everywhere.**" in page
    assert "**3 of 4 goals are met.**" in page
    assert cells(page, "speed at 100 tenants against BullMQ")[1:] == ["**missed**", "2", "≥ 3 ×"]


def test_a_failed_queue_is_named_with_its_reason():
    found = compared([FAST], [Failure(name="arq", reason="arq: load: no answer within 180 s")])
    assert not found.exact
    page = render(found)
    assert "**FAILED: delivery is not exact everywhere.**" in page
    assert cells(page, "arq delivers exactly")[1:3] == ["**FAILED**", "arq: load: no answer within 180 s"]


def test_a_queue_that_is_left_out_has_one_plain_line():
    page = render(compared([FAST], skipped=[Skipped(name="BullMQ", reason="node is not on PATH")]))
    assert "- BullMQ is left out: node is not on PATH\n" in page
    assert "None: BullMQ did not run." in page


def test_every_queue_has_a_row_of_abilities():
    page = render(compared([FAST]))
    for each in (FAIRLANE, *PEERS):
        assert f"| {each.abilities.source}" in page


def test_the_file_reads_back_as_it_was_written(tmp_path):
    found = compared([FAST, BESIDE], skipped=[Skipped(name="arq", reason="no network")])
    assert found.save(tmp_path).name == RESULTS_NAME
    assert PeerResults.model_validate_json((tmp_path / RESULTS_NAME).read_bytes()) == found
