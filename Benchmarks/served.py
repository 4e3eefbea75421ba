"""The parts that benchmarks share: free ports, certificates, and SAS tokens."""

import base64
import hashlib
import hmac
import socket
import subprocess
import time
import urllib.parse


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def make_certificate(folder):
    """Makes certificate.pem for localhost, and key.pem."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/key.pem", "-out",
         f"{folder}/certificate.pem"], check=True, stderr=subprocess.DEVNULL)


def token(port, name, key):
    """A token for the hub named `hub` on a port of this machine, valid for a day."""
    resource = urllib.parse.quote_plus(f"http://localhost:{port}/hub")
    expiry = int(time.time()) + 86_400
    digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    return (
        f"SharedAccessSignature sr={resource}&sig={urllib.parse.quote_plus(base64.b64encode(digest))}&se={expiry}&skn={name}"
    )
