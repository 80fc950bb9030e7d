# SPDX-License-Identifier: GPL-2.0

"""
The `net` library, for the virtio_net tests.
"""

import sys
from pathlib import Path

KSFT_DIR = (Path(__file__).parent / "../../../../..").resolve()

try:
    sys.path.append(KSFT_DIR.as_posix())

    # Import one by one to avoid pylint false positives
    from net.lib.py import NetNS, NetNSEnter
    from net.lib.py import NetdevFamily, NlError
    from net.lib.py import bkg, defer, ethtool, ip
    from net.lib.py import KsftSkipEx
    from net.lib.py import ksft_busy_wait, ksft_disruptive, ksft_eq, \
        ksft_exit, ksft_ge, ksft_gt, ksft_pr, ksft_run, ksft_setup, \
        ksft_true, ktap_result

    __all__ = ["NetNS", "NetNSEnter",
               "NetdevFamily", "NlError",
               "bkg", "defer", "ethtool", "ip",
               "KsftSkipEx",
               "ksft_busy_wait", "ksft_disruptive", "ksft_eq",
               "ksft_exit", "ksft_ge", "ksft_gt", "ksft_pr", "ksft_run",
               "ksft_setup", "ksft_true", "ktap_result"]
except ModuleNotFoundError as e:
    print("Failed importing `net` library from kernel sources")
    print(str(e))
    sys.exit(4)
