#!/usr/bin/env python3
"""An API server that answers from a file: canned_server.py PORT_FILE ANSWERS.json REQUESTS_FILE [CERTIFICATE.pem]

ANSWERS.json is read anew for each request: a list of [METHOD, beginning of the path, code, body]; the first that fits
is the answer, else it is a plain 404. A body that is a list is the items of a List; a text is sent as it is; that of
{"after": FILE, "body": BODY} when there is such a file. Each request is a line in REQUESTS_FILE: METHOD PATH BODY. Watches never end, unless an answer says "watch=true" in its path.
"""
import http.server
import json
import os
import ssl
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        with open(sys.argv[3], "a", encoding="utf-8") as f:
            f.write(f"{self.command} {self.path} {body}\n")
        with open(sys.argv[2], encoding="utf-8") as f:
            answers = json.load(f)
        for method, path, code, text in answers:
            if method == self.command and self.path.startswith(path):
                return self.send(code, text)
        if "watch=true" in self.path:
            threading.Event().wait()
        return self.send(404, "404 page not found\n")

    def send(self, code, text):
        if isinstance(text, dict) and "after" in text:
            while not os.path.exists(text["after"]):
                time.sleep(0.05)
            text = text["body"]
        if isinstance(text, list):
            text = {"kind": "List", "metadata": {"resourceVersion": "7"}, "items": text}
        data = (text if isinstance(text, str) else json.dumps(text)).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
