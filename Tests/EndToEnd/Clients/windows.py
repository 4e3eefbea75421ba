"""HTTP/2 clients that open no flow-control window for their responses, or only a small one at a time.

Arguments: IDLE_SECONDS PORT for the tests of the idle limit, PORT alone for those of the memory limit.
"""

import re
import socket
import ssl
import struct
import sys
import time

*idle, port = map(float, sys.argv[1:])
DATA, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE = 0, 1, 3, 4, 8
INITIAL_WINDOW = 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    """Encodes a literal header field without indexing or compression (RFC 7541, section 6.2.2)."""
    return b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in (name, value))


def request(stream, path):
    fields = {":method": "GET", ":scheme": "https", ":path": path, ":authority": "localhost"}
    # END_STREAM and END_HEADERS.
    return frame(HEADERS, 0x5, stream, b"".join(field(name, value) for name, value in fields.items()))


class Connection:
    def __init__(self, window):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", int(port)), timeout=600))
        settings = frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, window))
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        self.file = self.socket.makefile("rb")

    def frame(self):
        """Reads the next frame. Returns its type, flags, stream and payload."""
        head = self.file.read(9)
        assert len(head) == 9, "the connection ended"
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        payload = self.file.read(int.from_bytes(head[:3], "big"))
        if kind == SETTINGS and not flags & 1:
            self.send(frame(SETTINGS, 1, 0))
        return kind, flags, stream & 0x7FFFFFFF, payload

    def send(self, data):
        self.socket.sendall(data)

    def close(self):
        self.file.close()
        self.socket.close()

    def barrier(self):
        """Sends SETTINGS, which is always allowed, and returns the frames up to its acknowledgement."""
        self.send(frame(SETTINGS, 0, 0))
        frames = [self.frame()]
        while frames[-1][0] != SETTINGS or not frames[-1][1] & 1:
            frames.append(self.frame())
        return frames


def open_window(stream, size):
    return frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", size)) + frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


def takes_nothing():
    """A response without a window is reset, although other requests on the connection are answered meanwhile."""
    connection = Connection(window=0)
    connection.send(request(1, "/openapi.json"))
    stream, reset = 3, None
    while reset is None:
        connection.send(request(stream, "/health/live") + open_window(stream, 100))
        while True:
            kind, flags, of, _ = connection.frame()
            if kind == RST_STREAM:
                reset = of
            if of == stream and kind in (DATA, HEADERS) and flags & 1:
                break
            assert of != stream or kind != RST_STREAM
        stream += 2
    assert reset == 1, reset


def takes_little(seconds):
    """A response whose window opens slowly arrives completely, however long it takes."""
    connection = Connection(window=0)
    connection.send(request(1, "/openapi.json"))
    size, end = 0, False
    while not end:
        kind, flags, of, payload = connection.frame()
        assert kind != RST_STREAM
        if of != 1 or kind not in (DATA, HEADERS):
            continue
        size += len(payload) if kind == DATA else 0
        end = flags & 1
        # Nine pauses of a sixth of the idle limit: longer than the limit in all, but never idle for that long.
        time.sleep(seconds / 6)
        if not end:
            connection.send(open_window(1, 8192))
    assert size > 8 * 8192, size


def asks_much():
    """Of a burst of requests only as many start as fit into the memory limit. The others are answered once there is room."""
    connection = Connection(window=0)
    count, begun, answered = 99, set(), {}
    connection.send(b"".join(request(1 + 2 * number, "/openapi.json") for number in range(count)))

    rounds = 0
    while not begun or rounds < 5:
        before = len(begun)
        begun.update(of for kind, _, of, _ in connection.barrier() if kind == HEADERS)
        rounds = rounds + 1 if len(begun) == before else 0
    assert 0 < len(begun) < count, begun
    connection.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
    connection.send(frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 1 << 20)))
    ended = set()
    while len(ended) < count:
        kind, flags, of, payload = connection.frame()
        assert kind != RST_STREAM
        if kind == DATA:
            answered[of] = answered.get(of, 0) + len(payload)
            if flags & 1:
                ended.add(of)
    assert len(set(answered.values())) == 1, answered
    # 4 MiB for each connection.
    assert len(begun) * answered[1] <= 4 << 20 < count * answered[1], (len(begun), answered[1])


def free():
    """Waits until the server has few bytes pending for its clients."""
    for _ in range(100_000):
        connection = Connection(window=1 << 20)
        connection.send(request(1, "/metrics"))
        text, end = b"", False
        while not end:
            kind, flags, of, payload = connection.frame()
            text += payload if kind == DATA else b""
            end = of == 1 and kind in (DATA, HEADERS) and flags & 1
        connection.close()
        held = re.search(rb"pushhost_http_waiting_bytes (\d+)", text)
        if held and int(held[1]) < 1 << 20:
            return
    raise AssertionError("the server gave nothing back")


def fill():
    """Opens connections that request much and read nothing, until the server refuses a request. Returns them."""
    connections, refused = [], False
    while not refused:
        assert len(connections) < 100
        connection = Connection(window=0)
        connections.append(connection)
        connection.send(b"".join(request(1 + 2 * number, "/openapi.json") for number in range(20)))
        for _ in range(5):
            # A response without a body: the server refuses.
            refused = refused or any(kind in (DATA, HEADERS) and flags & 1 for kind, flags, _, _ in connection.barrier())
    return connections


if idle:
    takes_nothing()
    takes_little(idle[0])
else:
    asks_much()
    connections = fill()
    for connection in connections:
        connection.close()
    free()
    asks_much()
print("done")
