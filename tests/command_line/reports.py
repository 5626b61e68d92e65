"""What of two reports is to be the same."""

VOLATILE = {"seconds", "incomplete", "version", "provenance"}


def without_times(report):
    return {key: value for key, value in report.items() if key not in VOLATILE} | {
        "chains": [{key: value for key, value in chain.items() if key not in VOLATILE} for chain in report["chains"]]
    }
