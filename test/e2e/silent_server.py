#!/usr/bin/env python3
"""An API server that has one job and falls silent at the first write: silent_server.py PORT_FILE WRITES_FILE

Its port is written to PORT_FILE; each write that it does not answer is a line in WRITES_FILE.
"""
import http.server
import json
import os
import sys
import threading

JOB = {
    "apiVersion": "mlkube.io/v1beta1",
    "kind": "TfJob",
    "metadata": {"name": "demo", "namespace": "team", "uid": "u-1", "resourceVersion": "5", "generation": 1},
    "spec": {"replicaSpecs": [{"tfReplicaType": "MASTER", "replicas": 1, "template": {
        "spec": {"containers": [{"name": "tensorflow", "image": "x"}]}}}]},
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if "watch=true" in self.path:
            threading.Event().wait()
        items = [JOB] if "/tfjobs" in self.path else []
        body = json.dumps({"kind": "List", "metadata": {"resourceVersion": "7"}, "items": items}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def silent(self):
        with open(sys.argv[2], "a", encoding="utf-8") as f:
            f.write(f"{self.command} {self.path}\n")
        threading.Event().wait()

    do_POST = do_PATCH = do_DELETE = silent

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
