"""Readers of watches that are no good, for local-api.bats:  local_api_readers.py FOLDER slow|many

slow  watches without reading while 24 MB change; prints how many bytes came before it was cut off.
many  opens watches until one is refused; prints how many were served, and the status of the one that was not.
"""
import http.client
import json
import socket
import ssl
import sys

folder, what = sys.argv[1:]
port = int(open(f"{folder}/port").read())
headers = {"Authorization": "Bearer " + open(f"{folder}/token").read().strip(), "Content-Type": "application/json"}
context = ssl.create_default_context(cafile=f"{folder}/ca.pem")


def ask(method, path, body=None):
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    connection.request(method, path, body and json.dumps(body), headers)
    return connection, connection.getresponse()


maps = "/api/v1/namespaces/default/configmaps"

if what == "slow":
    # A small window: what is not read waits in the server.
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.settimeout(60)
    plain.connect(("127.0.0.1", port))
    slow = context.wrap_socket(plain, server_hostname="127.0.0.1")
    head = "".join(f"{k}: {v}\r\n" for k, v in headers.items())
    slow.sendall(f"GET {maps}?watch=1 HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode())
    slow.recv(1)
    for i in range(24):
        _, answer = ask("POST", maps, {"metadata": {"name": f"c{i}"}, "data": {"a": "x" * 1000000}})
        assert answer.status == 201, answer.status
        answer.read()
    n = 0
    try:
        while piece := slow.recv(1 << 16):
            n += len(piece)
    except (ssl.SSLError, OSError):
        pass
    print(n)
else:
    held = []
    while len(held) < 250:
        connection, answer = ask("GET", maps + "?watch=1")
        if answer.status != 200:
            break
        held.append((connection, answer))
    print(len(held), answer.status, json.loads(answer.read())["reason"])
