"""httpx against FCM and Web Push over HTTP/2, and against WNS over HTTP/1.1. Arguments: PORT CONTROL_PORT."""

import asyncio
import base64
import os
import ssl
import sys
import time
import uuid

import http_ece
import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from simulators import Control

port, control_port = sys.argv[1:]
control = Control(control_port)
base = f"https://localhost:{port}"
context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])


def client(version):
    return httpx.AsyncClient(http2=version == 2, http1=version == 1, verify=context, timeout=300)


def checked(answer, status, what=""):
    assert answer.status_code == status, (answer.status_code, status, what, dict(answer.headers), answer.text)
    return answer


# FCM.
account = control.credentials["fcm"]
SEND = f"{base}/v1/projects/{account['project_id']}/messages:send"
MESSAGING = "https://www.googleapis.com/auth/firebase.messaging"


def assertion(scope=MESSAGING, key=None, **claims):
    now = int(time.time())
    claims = {"iss": account["client_email"], "scope": scope, "aud": account["token_uri"], "iat": now, "exp": now + 3600, **claims}
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, key or account["private_key"], "RS256", {"kid": account["private_key_id"]})


async def grant(http, form=None, **claims):
    form = form or {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion(**claims)}
    return await http.post(account["token_uri"], data=form)


async def fcm(http):
    bob = control.phone("bob", "fcm")
    given = checked(await grant(http), 200).json()
    assert (given["token_type"], given["expires_in"]) == ("Bearer", 3599)

    async def send(status, kind=None, bearer=given["access_token"], path=SEND, method="POST", **message):
        body = {"message": {"token": bob, "notification": {"body": "Hello"}, **message}}
        fields = {"authorization": f"Bearer {bearer}"} if bearer else {}
        answer = checked(await http.request(method, path, json=body, headers=fields), status, message)
        assert answer.http_version == "HTTP/2"
        if status != 200:
            details = answer.json()["error"].get("details", [])
            codes = [detail.get("errorCode") for detail in details if detail["@type"].endswith("FcmError")]
            assert codes == ([kind] if kind else []), answer.text
        return answer

    await send(200)
    # One response for each request, however many are open.
    answers = await asyncio.gather(*(send(200, data={"n": str(number)}) for number in range(300)))
    assert len({answer.json()["name"] for answer in answers}) == 300

    await send(401, bearer=None)
    await send(401, bearer="ya29.unknown")
    drive = checked(await grant(http, scope="https://www.googleapis.com/auth/drive"), 200).json()["access_token"]
    await send(403, bearer=drive)
    await send(404, path=SEND.replace(account["project_id"], "another"))
    await send(404, method="PUT")
    await send(400, topic="news")
    await send(400, colour="red")
    await send(400, "INVALID_ARGUMENT", android={"ttl": "2419201s"})
    await send(400, "INVALID_ARGUMENT", token="short")
    await send(404, "UNREGISTERED", token=bob[:-4] + "AAAA")

    for word, claims in [
        ("invalid_grant", {"iss": "nobody@example.com"}), ("invalid_grant", {"aud": "https://example.com/token"}),
        ("invalid_grant", {"exp": int(time.time()) - 1}), ("invalid_grant", {"exp": None}), ("invalid_scope", {"scope": "mail"}),
    ]:
        assert checked(await grant(http, **claims), 400).json()["error"] == word
    assert checked(await grant(http, {"grant_type": "password", "assertion": "x"}), 400).json()["error"] == "unsupported_grant_type"
    for word, status in [
        ("invalid_grant", 400), ("invalid_client", 401), ("server_error", 500), ("temporarily_unavailable", 503)
    ]:
        control.call("/faults/fcm", reason=word, at="token", count=1)
        assert checked(await grant(http), status).json()["error"] == word
        checked(await grant(http), 200)
    control.call("/tokens/fcm", "DELETE")
    await send(401)


# WNS.
windows = control.credentials["wns"]
TOAST = b'<toast><visual><binding template="ToastGeneric"><text>News</text><text>Hello</text></binding></visual></toast>'
TILE = b'<tile><visual><binding template="TileMedium"><text>Hello</text></binding></visual></tile>'


async def windows_token(http, **changes):
    form = {
        "grant_type": "client_credentials", "client_id": windows["package_sid"], "client_secret": windows["client_secret"],
        "scope": "notify.windows.com", **changes,
    }
    return await http.post(windows["token_uri"], data=form)


async def wns(http):
    tom = control.phone("tom", "wns")
    assert tom.startswith(f"{base}/?token=") and f"localhost:{port}" in windows["channel_hosts"]
    given = checked(await windows_token(http), 200).json()
    assert (given["token_type"], given["expires_in"]) == ("bearer", 86400)

    async def push(status, kind="toast", body=TOAST, channel=tom, bearer=given["access_token"], method="POST", **fields):
        raw = kind == "raw"
        headers = {
            "authorization": f"Bearer {bearer}", "x-wns-type": f"wns/{kind}",
            "content-type": "application/octet-stream" if raw else "text/xml",
            **{name.replace("_", "-"): value for name, value in fields.items()},
        }
        headers = {name: value for name, value in headers.items() if value is not None}
        answer = checked(await http.request(method, channel, content=body, headers=headers), status, fields)
        assert answer.http_version == "HTTP/1.1" and len(answer.headers["x-wns-msg-id"]) == 16 and answer.content == b""
        assert (status != 200) == ("x-wns-error-description" in answer.headers)
        return answer

    async def outcome(expected, **options):
        answer = await push(200, **options)
        assert answer.headers["x-wns-status"] == expected, dict(answer.headers)
        return answer

    # The four kinds of notifications.
    await outcome("received")
    await outcome("received", kind="tile", body=TILE, x_wns_tag="news")
    await outcome("received", kind="badge", body=b'<badge value="7"/>')
    await outcome("received", kind="raw", body=b'{"n": 1}')
    phone = control.get("/phones/tom")
    assert [item["text"] for item in phone["inbox"]][:1] == ["News\nHello"] and phone["badge"] == "7", phone
    answer = await outcome("received", x_wns_requestforstatus="true", ms_cv="abc.1")
    assert (answer.headers["x-wns-deviceconnectionstatus"], answer.headers["ms-cv"]) == ("connected", "abc.1")
    # A payload that the device cannot parse is accepted.
    await outcome("received", body=b"<toast>")

    # Every status.
    for name, value in [
        ("x_wns_type", None), ("x_wns_type", "wns/song"), ("content_type", "application/json"), ("x_wns_cache_policy", "maybe"),
        ("x_wns_ttl", "soon"), ("x_wns_tag", "a b"), ("x_wns_suppresspopup", "true"),
    ]:
        await push(400, **{name: value})
    await push(401, bearer="unknown")
    await push(404, channel=f"{base}/?token=nothing")
    await push(405, method="PUT")
    await push(413, kind="raw", body=b"x" * 5001)

    async def chunks():
        yield TOAST

    await push(400, body=chunks())
    control.phone("pam", "wns")
    gone = control.call("/phones/pam", "DELETE").json()
    assert gone["handle"] is None
    for word, status, pause in [
        ("BadRequest", 400, None), ("Unauthorized", 401, None), ("Forbidden", 403, None), ("ChannelNotFound", 404, None),
        ("MethodNotAllowed", 405, None), ("Throttled", 406, "60"), ("ChannelExpired", 410, None), ("DomainBlocked", 410, None),
        ("PayloadTooLarge", 413, None), ("InternalServerError", 500, None), ("ServiceUnavailable", 503, "60"),
    ]:
        control.call("/faults/wns", reason=word, count=1, handle=tom)
        assert (await push(status)).headers.get("retry-after") == pause
        await outcome("received")
    for word in ["Throttled", "ServiceUnavailable"]:
        with control.fault("wns", reason=word, retry_after=5):
            assert (await push(406 if word == "Throttled" else 503)).headers["retry-after"] == "5"

    # Accepted with 200 but not delivered.
    seen = len(control.texts("tom"))
    for word, expected in [("dropped", "dropped"), ("disconnected", "dropped"), ("channelthrottled", "channelthrottled")]:
        control.call("/faults/wns", reason=word, count=1)
        await outcome(expected)
    assert len(control.texts("tom")) == seen
    assert [line[1:] for line in control.ledger()[-3:]] == [(200, "dropped"), (200, "dropped"), (200, "channelthrottled")]

    # Access tokens.
    for word, changes in [
        ("invalid_client", {"client_secret": "wrong"}), ("invalid_scope", {"scope": "mail"}),
        ("unsupported_grant_type", {"grant_type": "password"}),
    ]:
        assert checked(await windows_token(http, **changes), 400).json()["error"] == word
    control.call("/faults/wns", reason="invalid_client", at="token", count=1)
    assert checked(await windows_token(http), 401).json()["error"] == "invalid_client"
    control.call("/tokens/wns", "DELETE")
    await push(401)


# Web Push.
keys = control.credentials["browser"]


def vapid(origin=keys["origin"], key=keys["private_key"], **claims):
    claims = {"aud": origin, "exp": int(time.time()) + 3600, "sub": keys["subject"], **claims}
    return f"vapid t={jwt.encode(claims, key, 'ES256')}, k={keys['public_key']}"


async def web_push(http):
    name = f"eve-{uuid.uuid4()}"
    eve = control.phone(name, "browser")

    def sealed(text):
        key = ec.generate_private_key(ec.SECP256R1())
        p256dh, secret = (base64.urlsafe_b64decode(eve["keys"][part] + "==") for part in ("p256dh", "auth"))
        return http_ece.encrypt(
            text.encode(), private_key=key, dh=p256dh, auth_secret=secret, version="aes128gcm"
        )

    async def push(status, text="Hello", body=None, to=eve["endpoint"], **fields):
        headers = {"authorization": vapid(), "ttl": "60", "content-encoding": "aes128gcm", **fields}
        headers = {name: value for name, value in headers.items() if value is not None}
        answer = checked(await http.post(to, content=sealed(text) if body is None else body, headers=headers), status, fields)
        return answer

    answer = await push(201)
    assert answer.headers["ttl"] == "60" and answer.headers["location"].startswith(keys["origin"])
    assert control.texts(name) == ["Hello"]
    await asyncio.gather(*(push(201, str(number)) for number in range(200)))
    assert sorted(control.texts(name)) == sorted(["Hello"] + [str(number) for number in range(200)])
    await push(400, ttl=None)
    await push(400, topic="x" * 33)
    await push(400, urgency="loud")
    await push(400, **{"content-encoding": None})
    await push(401, authorization=None)
    await push(401, authorization=vapid(exp=int(time.time()) - 1))
    await push(401, authorization=vapid("https://updates.push.services.mozilla.com"))
    await push(404, to=f"{base}/wpush/v2/nobody")
    await push(413, body=b"x" * 4097)
    return answer


async def main():
    async with client(2) as two, client(1) as one:
        await fcm(two)
        assert (await web_push(two)).http_version == "HTTP/2"
        assert (await web_push(one)).http_version == "HTTP/1.1"
        await wns(one)


asyncio.run(main())
print("done")
