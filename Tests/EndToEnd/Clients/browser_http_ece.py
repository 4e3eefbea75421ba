"""A browser and its push service, with http-ece and py-vapid. Arguments: CERTIFICATE KEY.

Prints the subscription, then the text of each message. Every line is JSON.
"""

import base64
import http.server
import json
import os
import ssl
import sys

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

key, secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class PushService(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Encoding"] == "aes128gcm"
        text = http_ece.decrypt(body, private_key=key, auth_secret=secret).decode()
        # py-vapid does not accept a space after the comma, which RFC 9110 allows.
        is_signed = Vapid02.verify(self.headers["Authorization"].replace(", ", ","))
        print(json.dumps({"path": self.path, "text": text, "is_signed": is_signed}), flush=True)
        self.send_response(201)
        self.send_header("Location", f"{origin}/m/1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), PushService)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
server.socket = context.wrap_socket(server.socket, server_side=True)
origin = f"https://localhost:{server.server_port}"
point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
print(json.dumps({"origin": origin, "p256dh": encoded(point), "auth": encoded(secret), "ready": True}), flush=True)
server.serve_forever()
