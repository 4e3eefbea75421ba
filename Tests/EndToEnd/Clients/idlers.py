"""Silent TLS clients that never answer the server's close, and one client that sends a request.

Arguments: TLS_PORT PORT LIMIT PID. Opens more silent connections than the server allows, then others on its plain port. Then sends a
request on each port.
"""

import os
import socket
import ssl
import sys

tls_port, port, limit, process = map(int, sys.argv[1:])
REQUEST = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"


def plain(port):
    return socket.create_connection(("127.0.0.1", port), timeout=300)


def tls(port):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(plain(port))


def asks(connection):
    connection.sendall(REQUEST)
    assert connection.recv(15).startswith(b"HTTP/1.1 200 "), "no answer"


def files():
    return len(os.listdir(f"/proc/{process}/fd"))


before = files()
# Each connection has had a response, so that the server may expect another request on it.
known = []
for _ in range(limit + 8):
    known.append(tls(tls_port))
    asks(known[-1])
silent = [plain(port) for _ in range(limit)]
asks(plain(port))
# Connections that were closed to make room hold no descriptor.
assert files() <= before + limit + 32, f"{files() - before} files for {limit} connections"
silent += [plain(tls_port) for _ in range(limit)]
asks(tls(tls_port))
asks(plain(port))
print("done")
