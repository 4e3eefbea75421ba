"""Clients of HTTP/2 that take nothing, or little at a time, of what they ask of a server.

IDLE_SECONDS PORT for what the time decides, PORT for what it does not.
"""

import socket
import ssl
import struct
import sys
import time

*idle, port = map(float, sys.argv[1:])
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
INITIAL_WINDOW = 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    """Literal, neither indexed nor compressed (RFC 7541, section 6.2.2)."""
    return b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in (name, value))


def request(stream, path):
    fields = {":method": "GET", ":scheme": "https", ":path": path, ":authority": "localhost"}
    # The end of the fields and of the stream.
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
        """Kind, flags, stream and payload of the next one."""
        head = self.file.read(9)
        assert len(head) == 9, "the connection ended"
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        payload = self.file.read(int.from_bytes(head[:3], "big"))
        if kind == SETTINGS and not flags & 1:
            self.send(frame(SETTINGS, 1, 0))
        return kind, flags, stream & 0x7FFFFFFF, payload

    def send(self, data):
        self.socket.sendall(data)


def open_window(stream, size):
    return frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", size)) + frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


def takes_nothing():
    """Whoever takes nothing of an answer does not keep it, whatever else it asks for meanwhile; its other answers it gets."""
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
    """Whoever takes a little at a time gets all of it, however long that takes."""
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
        # Nine times; something is to be taken within six.
        time.sleep(seconds / 6)
        if not end:
            connection.send(open_window(1, 8192))
    assert size > 8 * 8192, size


def asks_much():
    """Where much lies untaken, a further request waits, and is answered when enough was taken."""
    connection = Connection(window=0)
    count, begun, answered = 99, set(), {}
    connection.send(b"".join(request(1 + 2 * number, "/openapi.json") for number in range(count)))
    while len(begun) < count:
        kind, _, of, _ = connection.frame()
        if kind == HEADERS:
            begun.add(of)
    last = 1 + 2 * count
    connection.send(request(last, "/openapi.json"))
    # More would be too many for the server.
    for number in range(2):
        connection.send(frame(PING, 0, 0, bytes([number] * 8)))
        kind = None
        while kind != PING:
            kind, _, of, _ = connection.frame()
            assert of != last, "the request was not held"
    connection.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
    connection.send(frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 1 << 20)))
    ended = set()
    while len(ended) <= count:
        kind, flags, of, payload = connection.frame()
        assert kind != RST_STREAM
        if kind == DATA:
            answered[of] = answered.get(of, 0) + len(payload)
            if flags & 1:
                ended.add(of)
    assert len(set(answered.values())) == 1, answered
    assert count * answered[1] > 4 << 20, answered[1]


if idle:
    takes_nothing()
    takes_little(idle[0])
else:
    asks_much()
print("done")
