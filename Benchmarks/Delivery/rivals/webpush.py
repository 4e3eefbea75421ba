"""Pushes through pywebpush: webpush.py PORT FOLDER COUNT plain|session|once; prints the cost of sending.

plain: webpush() as documented, which connects and signs for each message. session: over one connection. once: over one connection,
with a VAPID token that is signed once, which a program can do with the parts of the library.
"""
import base64
import os
import sys

port, folder, count, way = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
os.environ["REQUESTS_CA_BUNDLE"] = f"{folder}/certificate.pem"

import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPusher, webpush

from measure import Sending

origin = f"https://localhost:{port}"
owner = Vapid02.from_file(f"{folder}/key.pem")
TEXT = '{"aps":{"alert":{"title":"A title of usual length","body":"%s"},"sound":"default"}}'
text = TEXT % ("x" * (210 - len(TEXT) + 2))


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def browser():
    key = ec.generate_private_key(ec.SECP256R1()).public_key()
    return {"p256dh": encoded(key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)), "auth": encoded(os.urandom(16))}


browsers = [browser() for _ in range(min(count, 1_000))]
claims = {"sub": "mailto:ops@example.com"}
with requests.Session() as session, Sending() as sending:
    signed = owner.sign({**claims, "aud": origin})
    for number in range(count):
        subscription = {"endpoint": f"{origin}/wpush/v2/{number:0180x}", "keys": browsers[number % len(browsers)]}
        if way == "once":
            answer = WebPusher(subscription, requests_session=session).send(text, headers=signed, ttl=2_419_200)
        else:
            own = session if way == "session" else None
            answer = webpush(
                subscription, text, vapid_private_key=owner, vapid_claims=dict(claims), ttl=2_419_200, requests_session=own)
        sending.accepted += answer.status_code == 201
