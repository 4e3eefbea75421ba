"""What benchmarks of served hubs share: free ports and SAS tokens."""

import base64
import hashlib
import hmac
import socket
import time
import urllib.parse


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def token(port, name, key):
    """A token for the hub named `hub` on a port of this machine, valid for a day."""
    resource = urllib.parse.quote_plus(f"http://localhost:{port}/hub")
    expiry = int(time.time()) + 86_400
    digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    return (
        f"SharedAccessSignature sr={resource}&sig={urllib.parse.quote_plus(base64.b64encode(digest))}&se={expiry}&skn={name}"
    )
