"""Fairness: tenants of different weights on one provider quota, under priority, fair queues and a moving capacity."""
