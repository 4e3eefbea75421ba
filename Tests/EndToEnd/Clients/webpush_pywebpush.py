"""pywebpush, with py-vapid and http-ece, against the simulated Web Push service. Arguments: PORT CONTROL_PORT."""

import json
import sys
import time

import requests
from py_vapid import Vapid02
from pywebpush import WebPushException, webpush

from simulators import Control

port, control_port = sys.argv[1:]
control = Control(control_port)
keys = control.credentials["browser"]
origin = f"https://localhost:{port}"
assert keys["origin"] == origin
owner = Vapid02.from_pem(keys["private_key"].encode())
eve = control.phone("eve", "browser")
assert eve["endpoint"].startswith(f"{origin}/wpush/v2/"), eve


def send(text="Hello", to=eve, key=owner, claims=None, **options):
    vapid = None if key is None else {"sub": keys["subject"], **(claims or {})}
    return webpush(to, text, vapid_private_key=key, vapid_claims=vapid, **options)


def refused(status, errno, **options):
    try:
        send(**options)
    except WebPushException as error:
        answer = error.response
        assert (answer.status_code, answer.json()["errno"]) == (status, errno), (answer.status_code, answer.text, options)
        assert answer.json()["code"] == status and answer.json()["message"]
        return answer
    raise AssertionError(f"not {status}: {options}")


def at(path):
    return {**eve, "endpoint": origin + path}


# A message that the browser can decrypt and shows.
answer = send(json.dumps({"title": "Grüße", "body": "Hallo"}), ttl=60, headers={"Urgency": "high", "Topic": "news"})
assert answer.status_code == 201 and answer.headers["TTL"] == "60", answer.headers
assert answer.headers["Location"].startswith(f"{origin}/m/"), answer.headers
assert control.texts("eve") == ["Grüße\nHallo"]
assert send("x" * 3993).status_code == 201
assert send(None).status_code == 201
assert control.get("/phones/eve")["inbox"][1]["payload"] == "x" * 3993
assert send("later", ttl=99_999_999).headers["TTL"] == "2592000"

# A message sealed with another browser's keys is accepted and dropped by this one.
ivy = control.phone("ivy", "browser")
assert send(to={**eve, "keys": ivy["keys"]}).status_code == 201
assert "cannot decrypt" in control.get("/phones/eve")["inbox"][-1]["reason_not_shown"]

# Wrong senders.
refused(401, 109, key=None)
refused(401, 109, claims={"aud": "https://updates.push.services.mozilla.com"})
refused(401, 109, claims={"exp": int(time.time()) + 90_000})
refused(401, 109, claims={"aud": "https://localhost:1"})
stranger = Vapid02()
stranger.generate_keys()
refused(403, 109, key=stranger)
forged = Vapid02()
forged.generate_keys()
header = forged.sign({"aud": origin, "exp": int(time.time()) + 60, "sub": keys["subject"]})["Authorization"]
refused(401, 109, key=None, headers={"Authorization": header.split(", k=")[0] + f", k={keys['public_key']}"})
refused(401, 109, key=None, headers={"Authorization": "Bearer token"})

# Errors in the message.
refused(400, 111, headers={"TTL": "soon"})
refused(400, 114, headers={"TTL": "-1"})
refused(400, 113, headers={"Topic": "a topic with blanks"})
refused(400, 111, headers={"Urgency": "urgent"})
refused(400, 110, content_encoding="aesgcm")
refused(413, 104, text="x" * 3994)

# Unknown and removed recipients.
refused(404, 102, to=at("/wpush/v2/nobody"))
control.call("/phones/ivy", "DELETE")
assert refused(410, 106, to=ivy).headers["Cache-Control"]

# Faults of the service.
for word, status, errno, pause in [
    ("TooManyRequests", 429, None, "60"), ("InternalServerError", 500, 999, None), ("BadGateway", 502, 902, None),
    ("ServiceUnavailable", 503, 201, "120"), ("Gone", 410, 106, None), ("404", 404, 102, None),
]:
    control.call("/faults/webpush", reason=word, count=1, handle=eve["endpoint"])
    assert refused(status, errno).headers.get("Retry-After") == pause
    assert send().status_code == 201
for word in ["TooManyRequests", "ServiceUnavailable"]:
    with control.fault("webpush", reason=word, retry_after=3):
        assert refused(429 if word == "TooManyRequests" else 503, None if word == "TooManyRequests" else 201).headers["Retry-After"] == "3"

# A connection that is reset: the sender does not know whether the message arrived.
seen = len(control.texts("eve"))
for order, taken in [({"reset_every": 1}, 1), ({"reset_connections_every": 1}, 0)]:
    control.call("/connections", service="webpush", **order)
    try:
        send()
        raise AssertionError(f"not broken by {order}")
    except requests.exceptions.ConnectionError:
        pass
    control.call("/connections", "DELETE")
    assert len(control.texts("eve")) == seen + 1
print("done")
