"""HTTP/2 clients that send bodies in very small DATA frames.

Arguments: TLS_PORT PORT. PORT is plain and shows the metrics.
"""

import re
import socket
import ssl
import struct
import sys
import time
import urllib.request

tls_port, port = map(int, sys.argv[1:])
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 7, 8
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW = 4
ENHANCE_YOUR_CALM = 11


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    """Encodes a literal header field without indexing or compression (RFC 7541, section 6.2.2)."""
    return b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in (name, value))


def head(stream, method, path, flags=END_HEADERS):
    fields = {":method": method, ":scheme": "https", ":path": path, ":authority": "localhost"}
    return frame(HEADERS, flags, stream, b"".join(field(name, value) for name, value in fields.items()))


class Connection:
    def __init__(self, window=65535):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", tls_port), timeout=600))
        settings = frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, window))
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        self.file = self.socket.makefile("rb")

    def frame(self):
        """Reads the next frame. Returns its type, flags, stream and payload; None at the end of the connection."""
        begin = self.file.read(9)
        if len(begin) < 9:
            return None
        kind, flags, stream = struct.unpack(">BBI", begin[3:])
        return kind, flags, stream & 0x7FFFFFFF, self.file.read(int.from_bytes(begin[:3], "big"))

    def send(self, data):
        self.socket.sendall(data)

    def status(self, stream):
        """Reads until the head of a response."""
        while (got := self.frame())[0] != HEADERS or got[2] != stream:
            assert got[0] != GOAWAY, got
        return got

    def close(self):
        self.file.close()
        self.socket.close()


def waiting():
    """The bytes that the server has buffered for its clients."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=600) as response:
        return int(re.search(rb"pushhost_http_waiting_bytes (\d+)", response.read())[1])


def until(is_met):
    """Waits for a condition that the metrics show, which are at most a second old."""
    while not is_met():
        time.sleep(0.1)


def few():
    """Bodies in frames of one byte are read as usual, each by its own request."""
    connection = Connection()
    for stream in range(1, 41, 2):
        connection.send(head(stream, "POST", "/hub/messages") + b"".join(frame(DATA, 0, stream, b"{") for _ in range(100)))
        connection.send(frame(DATA, END_STREAM, stream))
        connection.status(stream)
    connection.close()


def many():
    """Frames of one byte without end: GOAWAY with ENHANCE_YOUR_CALM."""
    connection = Connection()
    connection.send(head(1, "POST", "/hub/messages"))
    try:
        for _ in range(200):
            connection.send(b"".join(frame(DATA, 0, 1, b"{") for _ in range(100)))
    except OSError:
        # The server has closed the connection.
        pass
    errors = []
    try:
        while (got := connection.frame()) is not None:
            if got[0] == GOAWAY:
                errors.append(struct.unpack(">II", got[3][:8])[1])
    except OSError:
        pass
    assert ENHANCE_YOUR_CALM in errors, errors
    connection.close()


def unread():
    """Frames that wait until their request begins count with more than their bytes."""
    connection = Connection(window=0)
    # These use the memory of the connection, so that later requests wait.
    connection.send(b"".join(head(stream, "GET", "/openapi.json", END_HEADERS | END_STREAM) for stream in range(1, 199, 2)))
    stream, count = 199, 4000
    connection.send(head(stream, "POST", "/hub/messages"))
    # The request reads what comes with its first read, and no more.
    connection.send(frame(DATA, 0, stream, b"{"))
    connection.send(frame(SETTINGS, 0, 0))
    while (got := connection.frame())[0] != SETTINGS or not got[1] & 1:
        pass
    while (got := connection.frame())[0] != SETTINGS or not got[1] & 1:
        pass
    before = waiting()
    connection.send(b"".join(frame(DATA, 0, stream, b"{") for _ in range(count)))
    until(lambda: waiting() >= before + 100 * count)
    connection.close()
    until(lambda: waiting() < 1 << 20)


few()
unread()
many()
few()
print("done")
