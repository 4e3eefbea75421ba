"""httpx over HTTP/2 against the simulated APNs. Arguments: PORT CONTROL_PORT."""

import asyncio
import json
import os
import ssl
import sys
import time
import uuid

import httpx
import jwt
import requests

port, control_port = sys.argv[1:]
control = f"http://127.0.0.1:{control_port}"
push_host, test_host = "api.push.apple.com", "api.sandbox.push.apple.com"
context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])


def order(path, method="POST", **fields):
    answer = requests.request(method, control + path, json=fields, timeout=60)
    assert answer.ok, answer.text
    return answer.json()


credentials = requests.get(f"{control}/credentials", timeout=60).json()["apns"]
topic = credentials["topic"]
phone = order("/phones", name="ana", platform="apns")["handle"]
test_phone = order("/phones", name="dev", platform="apns", environment="development")["handle"]


def token(age=0, **header):
    claims = {"iss": credentials["team_id"], "iat": int(time.time()) - age}
    return jwt.encode(claims, credentials["private_key"], "ES256", {"kid": credentials["key_id"], **header})


standing = token()
HELLO = b'{"aps":{"alert":"Hello"}}'


def connection():
    return httpx.AsyncClient(http2=True, http1=False, verify=context, timeout=300)


async def call(client, method="POST", path=None, body=HELLO, host=push_host, bearer=standing, **fields):
    headers = {"host": host, "apns-topic": topic, "apns-push-type": "alert"}
    if bearer:
        headers["authorization"] = f"bearer {bearer}"
    headers.update({name.replace("_", "-"): value for name, value in fields.items()})
    headers = {name: value for name, value in headers.items() if value is not None}
    url = f"https://127.0.0.1:{port}{path or '/3/device/' + phone}"
    answer = await client.request(method, url, content=body, headers=headers)
    assert answer.http_version == "HTTP/2"
    return answer


async def refused(client, status, reason, **options):
    answer = await call(client, **options)
    assert (answer.status_code, answer.json().get("reason")) == (status, reason), (answer.status_code, answer.text, options)
    assert uuid.UUID(answer.headers["apns-id"])
    return answer


async def accepted(client, **options):
    answer = await call(client, **options)
    assert answer.status_code == 200 and answer.content == b"", (answer.status_code, answer.text)
    return answer


async def main():
    async with connection() as client:
        own = str(uuid.uuid4())
        answer = await accepted(client, apns_id=own)
        assert answer.headers["apns-id"] == own and "apns-unique-id" not in answer.headers
        answer = await accepted(client, host=test_host, path=f"/3/device/{test_phone}")
        assert uuid.UUID(answer.headers["apns-unique-id"])

        await refused(client, 405, "MethodNotAllowed", method="GET", body=None)
        await refused(client, 404, "BadPath", path="/2/device/00")
        await refused(client, 400, "BadMessageId", apns_id="1")
        await refused(client, 400, "BadExpirationDate", apns_expiration="soon")
        await refused(client, 400, "BadTopic", apns_topic="a b")
        await refused(client, 400, "MissingTopic", apns_topic=None)
        await refused(client, 400, "InvalidPushType", apns_push_type="shout")
        await refused(client, 400, "BadPriority", apns_push_type="background", apns_priority="10")
        await refused(client, 400, "BadDeviceToken", host=test_host)
        await refused(client, 400, "PayloadEmpty", body=b"[]")
        await refused(client, 413, "PayloadTooLarge", body=json.dumps({"aps": "x" * 4096}).encode())
        # More than a stream's window: the response comes before the whole body.
        await refused(client, 413, "PayloadTooLarge", body=b"x" * 60_000)

        for name, status in [
            ("Forbidden", 403), ("IdleTimeout", 400), ("TooManyRequests", 429), ("InternalServerError", 500), ("ServiceUnavailable", 503),
            ("Shutdown", 503), ("Unregistered", 410), ("ExpiredToken", 410),
        ]:
            order("/faults/apns", reason=name, count=1, handle=phone, retry_after=3)
            answer = await refused(client, status, name)
            assert answer.headers["retry-after"] == "3"
            assert ("timestamp" in answer.json()) == (status == 410)
            await accepted(client)

    # Wrong senders, each on its own connection.
    for status, reason, bearer in [
        (403, "MissingProviderToken", None), (403, "InvalidProviderToken", "a.b.c"), (403, "InvalidProviderToken", token(kid="NOSUCHKEY1")),
        (403, "ExpiredProviderToken", token(age=3700)),
    ]:
        async with connection() as client:
            await refused(client, status, reason, bearer=bearer)

    # Broadcasts.
    async with connection() as client:
        manage, channels = "api-manage-broadcast.push.apple.com", f"/1/apps/{topic}/channels"
        made = await call(
            client, path=channels, host=manage, body=b'{"message-storage-policy":1,"push-type":"LiveActivity"}', apns_topic=None
        )
        assert made.status_code == 201, made.text
        channel = made.headers["apns-channel-id"]
        listed = await call(client, "GET", f"/1/apps/{topic}/all-channels", None, manage)
        assert listed.json() == {"channels": [channel]}
        order("/phones/ana/channels", channel=channel)
        update = {"aps": {"timestamp": int(time.time()), "event": "update", "content-state": {"score": "1:0"}}}
        told = await call(
            client, path=f"/4/broadcasts/apps/{topic}", body=json.dumps(update).encode(), apns_topic=None, apns_push_type="liveactivity",
            apns_expiration="0", apns_channel_id=channel,
        )
        assert told.status_code == 200 and uuid.UUID(told.headers["apns-request-id"]), told.text
        shown = requests.get(f"{control}/phones/ana", timeout=60).json()["inbox"][-1]
        assert shown["text"] == '{"score":"1:0"}', shown
        deleted = await call(client, "DELETE", channels, None, manage, apns_channel_id=channel)
        assert deleted.status_code == 204

    # Many requests at once, after the first has authenticated the connection.
    async with connection() as client:
        await accepted(client)
        answers = await asyncio.gather(*(accepted(client, apns_id=str(uuid.UUID(int=number))) for number in range(300)))
        assert [answer.headers["apns-id"] for answer in answers] == [str(uuid.UUID(int=number)) for number in range(300)]


asyncio.run(main())
print("done")
