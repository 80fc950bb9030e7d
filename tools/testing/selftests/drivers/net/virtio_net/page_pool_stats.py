#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
Page pool statistics of virtio_net.

The device totals of ethtool -S have to agree with the page pools of the
device, which netlink shows one by one, in every receive mode. Which mode
that is depends on the hypervisor: mergeable, small or big packets.

    +----------------------+            +----------------------+
    | netns "far"          |            | netns "near"         |
    |           virtio NIC |------------| virtio NIC           |
    |         198.51.100.1 | hypervisor | 198.51.100.2         |
    +----------------------+            +----------------------+

Two virtio NICs joined back to back are needed. Those which have an address
are left alone, they may be the way into this machine. The others are moved
to namespaces of their own, and back at the end.
"""

import errno
import os
import socket
import sys
from pathlib import Path

from lib.py import NetNS, NetNSEnter
from lib.py import NetdevFamily, NlError
from lib.py import bkg, defer, ethtool, ip
from lib.py import KsftSkipEx
from lib.py import ksft_busy_wait, ksft_disruptive, ksft_eq, ksft_exit, \
    ksft_ge, ksft_gt, ksft_pr, ksft_run, ksft_setup, ksft_true, ktap_result

# The names are ABI, and so is their order: name in ethtool, in netlink.
COUNTERS = (
    ("rx_pp_alloc_fast", "alloc-fast"),
    ("rx_pp_alloc_slow", "alloc-slow"),
    ("rx_pp_alloc_slow_ho", "alloc-slow-high-order"),
    ("rx_pp_alloc_empty", "alloc-empty"),
    ("rx_pp_alloc_refill", "alloc-refill"),
    ("rx_pp_alloc_waive", "alloc-waive"),
    ("rx_pp_recycle_cached", "recycle-cached"),
    ("rx_pp_recycle_cache_full", "recycle-cache-full"),
    ("rx_pp_recycle_ring", "recycle-ring"),
    ("rx_pp_recycle_ring_full", "recycle-ring-full"),
    ("rx_pp_recycle_released_ref", "recycle-released-refcnt"),
)

NEAR_ADDR = "198.51.100.2"
FAR_ADDR = "198.51.100.1"
BROADCAST = "198.51.100.255"
PORT = 4000
PAYLOAD = bytes(1400)
ETH_P_IP = 0x0800
XDP_ACTION = Path(__file__).parent / "../../../net/lib/xdp_action"


class Nic:
    """ A virtio NIC in a namespace of its own. """

    def __init__(self, ifname, addr):
        self.addr = addr
        self.device = Path(f"/sys/class/net/{ifname}/device").resolve()
        self.was_up = "UP" in ip(f"link show dev {ifname}",
                                 json=True)[0]["flags"]
        self.netns = NetNS()
        self.ifname = ifname
        self.enter()

    def enter(self):
        """ Move it to its namespace, under its own name, and set it up. """
        found = next(Path(self.device, "net").iterdir()).name
        ip(f"link set dev {found} name {self.ifname} netns {self.netns}")
        ip(f"addr add {self.addr}/24 dev {self.ifname}", ns=self.netns)
        ip(f"link set dev {self.ifname} up", ns=self.netns)

        with NetNSEnter(self.netns.name):
            self.netdev = NetdevFamily()
        self.ifindex = ip(f"link show dev {self.ifname}", json=True,
                          ns=self.netns)[0]["ifindex"]

    def rebind(self):
        """ Let the driver start over; the NIC is where it was at boot. """
        driver = Path("/sys/bus/virtio/drivers/virtio_net")
        (driver / "unbind").write_text(self.device.name, encoding="ascii")
        (driver / "bind").write_text(self.device.name, encoding="ascii")

    def leave(self):
        """ Move it back. """
        ip(f"link set dev {self.ifname} down", ns=self.netns)
        ip(f"link set dev {self.ifname} netns {os.getpid()}", ns=self.netns)

    def close(self):
        """ Give the NIC back. """
        self.leave()
        if self.was_up:
            ip(f"link set dev {self.ifname} up")
        del self.netns

    def ethtool_stats(self):
        """ All of ethtool -S, as a list of names and values, in order. """
        lines = ethtool(f"-S {self.ifname}", ns=self.netns).stdout.splitlines()
        pairs = [line.rsplit(":", 1) for line in lines[1:]]
        return [(name.strip(), int(value)) for name, value in pairs]

    def totals(self):
        """ The page pool totals of the device, from ethtool. """
        stats = dict(self.ethtool_stats())
        return [stats[name] for name, _ in COUNTERS]

    def pools(self):
        """ What netlink knows about each page pool of the device. """
        dump = self.netdev.page_pool_stats_get({}, dump=True)
        return [pool for pool in dump
                if pool["info"].get("ifindex") == self.ifindex]

    def pools_sum(self):
        """ The same totals, from netlink. """
        pools = self.pools()
        return [sum(pool[attr] for pool in pools) for _, attr in COUNTERS]

    def channels(self):
        """ Queue pairs: the maximum, and those in use. """
        lines = ethtool(f"-l {self.ifname}", ns=self.netns).stdout.splitlines()
        return [int(line.split()[1]) for line in lines
                if line.startswith("Combined:")]

    def set_channels(self, count):
        """ Change the number of queue pairs in use. """
        ethtool(f"-L {self.ifname} combined {count}", ns=self.netns)


class Config:
    """ The two NICs: traffic goes from far to near, near is looked at. """

    def __init__(self, ifnames):
        self.far = Nic(ifnames[0], FAR_ADDR)
        self.near = Nic(ifnames[1], NEAR_ADDR)

    def __enter__(self):
        return self

    def __exit__(self, ex_type, ex_value, ex_tb):
        self.near.close()
        self.far.close()

    def traffic(self, flows=8, count=100):
        """ Send datagrams in several flows, one at a time, to keep them. """
        with NetNSEnter(self.near.netns.name):
            sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with NetNSEnter(self.far.netns.name):
            socks = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                     for _ in range(flows)]

        sink.bind((NEAR_ADDR, PORT))
        sink.settimeout(1)
        received = 0
        for _ in range(count):
            for sock in socks:
                sock.sendto(PAYLOAD, (NEAR_ADDR, PORT))
                try:
                    received += len(sink.recv(len(PAYLOAD))) == len(PAYLOAD)
                except TimeoutError:
                    pass

        for sock in (sink, *socks):
            sock.close()
        ksft_ge(received, flows * count * 9 // 10, "datagrams got lost")

    def xdp(self, action):
        """ Attach an XDP program to near, while in the context. """
        return bkg(f"{XDP_ACTION} {self.near.ifname} {action}",
                   ns=self.near.netns, ksft_wait=20)

    def echo(self, flows=8, count=20):
        """ Broadcast datagrams in several flows, near has to send them back.
        Return how many were sent, and how many came back. """
        with NetNSEnter(self.far.netns.name):
            back = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
            socks = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                     for _ in range(flows)]

        back.bind((self.far.ifname, ETH_P_IP))
        back.settimeout(1)
        for sock in socks:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        received = 0
        for _ in range(count):
            for sock in socks:
                sock.sendto(PAYLOAD, (BROADCAST, PORT))
                try:
                    received += back.recv(2048).endswith(PAYLOAD)
                except TimeoutError:
                    pass

        for sock in (back, *socks):
            sock.close()
        return flows * count, received


def _require_stats(cfg):
    """ Skip when the kernel does not count, the names must be gone then. """
    try:
        cfg.near.pools()
    except NlError as err:
        if err.nl_msg.error != -errno.EOPNOTSUPP:
            raise
        ksft_true(all("_pp_" not in name
                      for name, _ in cfg.near.ethtool_stats()),
                  "counters shown by a kernel which does not count")
        raise KsftSkipEx("kernel without CONFIG_PAGE_POOL_STATS") from err


def _check_equal(cfg):
    """ ethtool and netlink agree, given an instant without traffic. """
    seen = {}

    def still():
        seen["ethtool"] = cfg.near.totals()
        seen["netlink"] = cfg.near.pools_sum()
        return cfg.near.totals() == seen["ethtool"]

    ksft_busy_wait(still, sleep=0.2, deadline=20, comment="traffic stops")
    ksft_eq(seen["ethtool"], seen["netlink"], "ethtool, netlink")


def _check_moving(cfg):
    """ Traffic moves the totals of both sides, but only in a page pool. """
    before = cfg.near.totals()
    cfg.traffic()
    after = cfg.near.totals()
    for (name, _), old, new in zip(COUNTERS, before, after):
        ksft_ge(new, old, f"{name} went backwards")

    if not cfg.near.pools():
        ksft_eq(after, [0] * len(COUNTERS), "no page pool, nothing to count")
        return

    moved = {name: new - old
             for (name, _), old, new in zip(COUNTERS, before, after)}
    ksft_gt(sum(n for name, n in moved.items() if "_alloc_" in name), 0,
            "no allocation counted")
    ksft_gt(sum(n for name, n in moved.items() if "_recycle_" in name), 0,
            "no recycling counted")


def names(cfg) -> None:
    """ The eleven counters, in the order of old, at the very end. """
    _require_stats(cfg)
    seen = [name for name, _ in cfg.near.ethtool_stats()]
    ksft_eq(seen[-len(COUNTERS):], [name for name, _ in COUNTERS])
    ksft_eq(len(seen), len(set(seen)), "a name is shown twice")


def equal(cfg) -> None:
    """ The totals are the sum of what netlink shows for each page pool. """
    _require_stats(cfg)
    cfg.traffic()
    _check_equal(cfg)


def moving(cfg) -> None:
    """ The totals move with traffic. """
    _require_stats(cfg)
    _check_moving(cfg)


@ksft_disruptive
def down_up(cfg) -> None:
    """ Nothing changes its name, place or value when the NIC goes down. """
    _require_stats(cfg)
    cfg.traffic()
    count = len(cfg.near.ethtool_stats())
    before = cfg.near.totals()

    ip(f"link set dev {cfg.near.ifname} down", ns=cfg.near.netns)
    defer(ip, f"link set dev {cfg.near.ifname} up", ns=cfg.near.netns)
    ksft_eq(len(cfg.near.ethtool_stats()), count)
    for (name, _), old, new in zip(COUNTERS, before, cfg.near.totals()):
        ksft_ge(new, old, f"{name} went backwards")
    _check_equal(cfg)

    ip(f"link set dev {cfg.near.ifname} up", ns=cfg.near.netns)
    ksft_eq(len(cfg.near.ethtool_stats()), count)
    _check_moving(cfg)
    _check_equal(cfg)


@ksft_disruptive
def channels(cfg) -> None:
    """ Names, count and values stay in step when the queues change. """
    _require_stats(cfg)
    most, cur = cfg.near.channels()
    if most == 1:
        raise KsftSkipEx("needs a virtio NIC with more than one queue pair")

    defer(cfg.near.set_channels, cur)
    for count in [*range(1, most + 1), 1]:
        before = cfg.near.totals()
        cfg.near.set_channels(count)

        seen = [name for name, _ in cfg.near.ethtool_stats()]
        ksft_eq(seen[-len(COUNTERS):], [name for name, _ in COUNTERS])
        ksft_eq({name.split("_")[0] for name in seen} - {"rx", "tx", "cq"},
                {f"{way}{i}" for way in ("rx", "tx") for i in range(count)})

        # What queues out of use have counted stays in the totals
        for (name, _), old, new in zip(COUNTERS, before, cfg.near.totals()):
            ksft_ge(new, old, f"{name} went backwards at {count} channels")
        _check_equal(cfg)

        cfg.traffic()
        _check_equal(cfg)


@ksft_disruptive
def xdp(cfg) -> None:
    """ The receive path with an XDP program counts as well. """
    _require_stats(cfg)
    if not any(cfg.near.totals()):
        raise KsftSkipEx("no XDP in big packets mode")

    with cfg.xdp("pass"):
        _check_moving(cfg)
        _check_equal(cfg)

        # XDP may use more queues, so there may be more before the eleven
        stats = cfg.near.ethtool_stats()
        ksft_eq([name for name, _ in stats[-len(COUNTERS):]],
                [name for name, _ in COUNTERS])
        ksft_gt(dict(stats)["rx_xdp_packets"], 0, "program met no packet")
    _check_equal(cfg)


@ksft_disruptive
def xdp_tx(cfg) -> None:
    """ XDP sends back, with send queues of its own and without. """
    _require_stats(cfg)
    if not any(cfg.near.totals()):
        raise KsftSkipEx("no XDP in big packets mode")

    most, cur = cfg.near.channels()
    defer(cfg.near.set_channels, cur)
    for count in range(1, most + 1):
        cfg.near.set_channels(count)
        with cfg.xdp("tx"):
            before = dict(cfg.near.ethtool_stats())["rx_xdp_tx"]
            sent, back = cfg.echo()
            after = dict(cfg.near.ethtool_stats())["rx_xdp_tx"]
            ksft_ge(back, sent * 9 // 10, f"frames lost, {count} channels")
            ksft_ge(after - before, back, f"not by XDP, {count} channels")
            _check_equal(cfg)


def _announced(netdev):
    """ The page pools which netlink announced since the last call. """
    netdev.check_ntf()
    ids = []
    while not netdev.async_msg_queue.empty():
        ntf = netdev.async_msg_queue.get_nowait()
        if ntf["name"] == "page-pool-add-ntf":
            ids.append(ntf["msg"]["id"])
            ksft_true(ntf["msg"].get("ifindex"), "of no netdev")
    return sorted(ids)


@ksft_disruptive
def announced(cfg) -> None:
    """ A page pool is announced once, and again in each namespace. """
    _require_stats(cfg)
    pools = len(cfg.near.pools())
    if not pools:
        raise KsftSkipEx("no page pool in big packets mode")

    here = NetdevFamily()
    here.ntf_subscribe("page-pool")
    with NetNSEnter(cfg.near.netns.name):
        there = NetdevFamily()
    there.ntf_subscribe("page-pool")

    cfg.near.rebind()
    ids = _announced(here)
    ksft_eq(len(ids), pools, "announced by its driver")
    ksft_eq(len(set(ids)), pools, "announced more than once")

    cfg.near.enter()
    ksft_eq(_announced(there), ids, "announced where it moved")


def _find_nics():
    """ The virtio NICs which are free to be used. """
    nics = []
    for link in ip("addr show", json=True):
        driver = Path(f"/sys/class/net/{link['ifname']}/device/driver")
        used = [addr for addr in link["addr_info"] if addr["scope"] != "link"]
        if driver.resolve().name == "virtio_net" and not used:
            nics.append(link["ifname"])
    return sorted(nics)


def main() -> None:
    """ Ksft boiler plate main. """
    ksft_setup(os.environ)
    nics = _find_nics()
    if len(nics) < 2:
        ktap_result(True, comment="SKIP needs two unused virtio NICs")
        sys.exit(4)

    with Config(nics) as cfg:
        ksft_pr(f"traffic from {nics[0]} to {nics[1]}")
        ksft_run([names, equal, moving, down_up, channels, xdp, xdp_tx,
                  announced], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
