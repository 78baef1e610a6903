#!/usr/bin/python3
"""The names of the packet filter's tables of this network namespace, one a line; without the program nft."""
import socket
import struct

GETTABLE, DUMP = 10 << 8 | 1, 0x301  # NFNL_SUBSYS_NFTABLES, NFT_MSG_GETTABLE; REQUEST | DUMP
NAME = 1  # NFTA_TABLE_NAME


def messages(s):
    while True:
        data = s.recv(65536)
        while data:
            size, kind = struct.unpack_from("=IH", data)
            if kind in (2, 3):  # ERROR, DONE
                return
            yield data[20:size]
            data = data[(size + 3) & ~3:]


def attributes(data):
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:size]
        data = data[(size + 3) & ~3:]


s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)  # NETLINK_NETFILTER
s.send(struct.pack("=IHHIIBBH", 20, GETTABLE, DUMP, 1, 0, 0, 0, 0))
for m in messages(s):
    print(dict(attributes(m))[NAME].rstrip(b"\0").decode())
