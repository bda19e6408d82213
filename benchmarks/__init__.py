"""gradcli beside its peers: `python -m benchmarks [WORKLOAD ...]`.

Times depend on the machine; the ratios between the rows of one table hold better.
"""
