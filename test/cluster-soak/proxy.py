"""Between an operator and the API server: plain HTTP/1.1 on one side, TLS on the other. Sees each request
before it is passed on, and can keep everything without closing a connection."""
import asyncio
import threading

from soak import api

METHODS = (b"GET ", b"POST ", b"PATCH ", b"PUT ", b"DELETE ")


class Proxy:
    """request(method, path) is asked before a request is passed on, if its connection is not older than the last
    renew(). "drop": it is not, nor anything after it. "mute": it is, but no reply comes back on any connection any
    more. Both last until renew().
    "hold": it is, but only once release is set, as on a very slow way."""

    def __init__(self, host="127.0.0.1", request=lambda method, path: None):
        self.request, self.host = request, host
        self.state = {"drop": False, "mute": False}
        self.release, self.refuses, self.open = threading.Event(), False, set()
        self.gone = 0  # replies that said 410
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=self.run, args=(started,), daemon=True).start()
        started.wait()

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, self.host, 0))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def cut(self):
        """Closes all connections, and takes none until renew()."""
        self.refuses = True
        for writer in list(self.open):
            self.loop.call_soon_threadsafe(writer.close)

    def renew(self):
        """New connections are served again. Those of before stay as they are."""
        self.refuses = False
        self.state = {"drop": False, "mute": False}

    async def serve(self, reader, writer):
        state = self.state
        host, port = api.host.split(":")
        if self.refuses:
            writer.close()
            return
        try:
            up_reader, up_writer = await asyncio.open_connection(host, int(port), ssl=api.tls)
        except OSError:
            writer.close()
            return
        self.open.add(writer)
        await asyncio.gather(self.there(reader, up_writer, state), self.back(up_reader, writer, state))

    async def there(self, reader, up, state):
        held = False
        try:
            while data := await reader.read(1 << 16):
                if state["drop"]:
                    continue
                # One request at a time on a connection: it begins where a piece does.
                if data.startswith(METHODS) and state is self.state:
                    method, path = data.split(b" ", 2)[:2]
                    verdict = self.request(method.decode(), path.decode())
                    if verdict == "hold":
                        held = True
                        while not self.release.is_set():
                            await asyncio.sleep(0.02)
                    elif verdict:
                        state[verdict] = True
                        if verdict == "drop":
                            continue
                up.write(data)
                await up.drain()
        except OSError:
            pass
        finally:
            # The server gives up what nobody waits for; a late write must be done to do harm.
            if held:
                await asyncio.sleep(2)
            up.close()

    async def back(self, up_reader, writer, state):
        try:
            while data := await up_reader.read(1 << 16):
                self.gone += b'"code":410' in data
                if not state["drop"] and not state["mute"]:
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass
        finally:
            self.open.discard(writer)
            writer.close()
