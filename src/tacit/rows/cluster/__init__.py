"""A table on a cluster: workers hold the records of their partitions, the coordinator adds integer sums."""
