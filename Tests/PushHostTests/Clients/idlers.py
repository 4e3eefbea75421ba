"""Clients of TLS that say nothing and never answer that the server closes, and one that has a question.

TLS_PORT PORT LIMIT PID: more of them than the server keeps open, then others on its plain port; then somebody asks on each.
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
# Each has been answered, so that the server may take it for one that comes back.
known = []
for _ in range(limit + 8):
    known.append(tls(tls_port))
    asks(known[-1])
silent = [plain(port) for _ in range(limit)]
asks(plain(port))
# Those that have made room hold no file any more.
assert files() <= before + limit + 32, f"{files() - before} files for {limit} connections"
silent += [plain(tls_port) for _ in range(limit)]
asks(tls(tls_port))
asks(plain(port))
print("done")
