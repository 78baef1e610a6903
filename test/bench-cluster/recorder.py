"""A reverse proxy that writes down what passes: plain HTTP in, TLS to an API server out.

For one run only, to learn which requests an operator makes. Answers go back as they come, byte by byte, so
watches work; requests are cut by their Content-Length."""
import asyncio
import ssl
import threading


class Recorder:
    """Listens on 127.0.0.1:self.port from its start until stop(). self.requests: (method, path, type, body)."""

    def __init__(self, host, port, ca, cert, key):
        self.upstream = (host, port)
        self.tls = ssl.create_default_context(cafile=ca)
        self.tls.load_cert_chain(cert, key)
        self.requests = []
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _end(self):
        self.server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection(*self.upstream, ssl=self.tls)
        back = asyncio.ensure_future(self._answers(up_reader, writer))
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, headers = parse_head(head)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.requests.append((method, path, headers.get("content-type", "application/json"), body))
                up_writer.write(head + body)
                await up_writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            back.cancel()
            up_writer.close()
            writer.close()

    @staticmethod
    async def _answers(up_reader, writer):
        try:
            while piece := await up_reader.read(65536):
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()


def parse_head(head):
    lines = head.decode("latin-1").split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = {}
    for line in lines[1:]:
        if line:
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
    return method, path, headers
