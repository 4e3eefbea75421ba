"""aioapns against the simulated APNs. Arguments: successes|failures PORT CONTROL_PORT FOLDER. The certificate is written to FOLDER.

aioapns sends no ALPN and no :authority, and never updates the window of its connection. Before it has received SETTINGS it opens
any number of streams, and it does not report a refused stream. So a single connection is used for many requests at once.
"""

import asyncio
import os
import ssl
import sys
from uuid import uuid4

import requests
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol, APNsTLSClientProtocol

mode, port, control_port, folder = sys.argv[1:]
control = f"http://127.0.0.1:{control_port}"
APNsTLSClientProtocol.APNS_PORT = int(port)
APNsProductionClientProtocol.APNS_SERVER = "localhost"
trust = os.environ["SSL_CERT_FILE"]


def order(path, method="POST", **fields):
    answer = requests.request(method, control + path, json=fields, timeout=60)
    assert answer.ok, answer.text
    return answer.json()


credentials = requests.get(f"{control}/credentials", timeout=60).json()["apns"]
ana = order("/phones", name="ana", platform="apns")["handle"]
bob = order("/phones", name="bob", platform="apns")["handle"]
TEXT = {"aps": {"alert": "Hello"}}


async def quiet(request, result):
    """Suppresses the log of failures, which are checked below."""


def sender(**options):
    return APNs(
        **{
            "key": credentials["private_key"], "key_id": credentials["key_id"], "team_id": credentials["team_id"],
            "topic": credentials["topic"], "ssl_context": ssl.create_default_context(cafile=trust), "err_func": quiet,
            "max_connections": 1, **options,
        }
    )


async def answered(client, status, reason=None, to=ana, message=None, **fields):
    request = NotificationRequest(device_token=to, message=TEXT if message is None else message, **fields)
    result = await asyncio.wait_for(client.send_notification(request), 300)
    assert (result.status, result.description) == (status, reason), (result.status, result.description)
    assert result.notification_id == request.notification_id
    return result


async def successes():
    client = sender()
    await answered(client, "200", push_type=PushType.ALERT, collapse_key="k", time_to_live=60, priority=10)
    await asyncio.gather(*(answered(client, "200", to=to) for _ in range(100) for to in (ana, bob)))
    assert len(requests.get(f"{control}/phones/bob", timeout=60).json()["inbox"]) == 100


async def failures():
    client = sender()
    await answered(client, "200")

    # Errors in the request.
    await answered(client, "400", "BadDeviceToken", to="ab" * 32)
    await answered(client, "400", "MissingDeviceToken", to="")
    await answered(client, "400", "BadPriority", priority=7)
    await answered(client, "400", "BadCollapseId", collapse_key="x" * 65)
    await answered(client, "400", "TopicDisallowed", apns_topic="com.example.other")
    await answered(client, "400", "InvalidPushType", push_type=PushType.VOIP)
    await answered(client, "400", "PayloadEmpty", message={})
    await answered(client, "413", "PayloadTooLarge", message={"aps": {"alert": "x" * 4096}})

    # Wrong senders.
    await answered(sender(team_id="SOMEBODY12"), "403", "InvalidProviderToken")
    await answered(sender(key_id="NOSUCHKEY1"), "403", "InvalidProviderToken")

    # An invalid token, and since when it is invalid.
    order("/phones/bob", "DELETE")
    gone = await answered(client, "410", "Unregistered", to=bob)
    assert 1_700_000_000_000 < gone.timestamp < 4_000_000_000_000, gone.timestamp

    # Faults of the service.
    for status, reason in [("429", "TooManyRequests"), ("500", "InternalServerError"), ("503", "ServiceUnavailable"), ("410", "ExpiredToken")]:
        order("/faults/apns", reason=reason, count=1)
        await answered(client, status, reason)
    order("/faults/apns", reason="Shutdown", count=1)
    await answered(client, "503", "Shutdown")

    # The connection closes. aioapns opens another one once it has noticed.
    while client.pool.connections:
        await asyncio.sleep(0)
    await answered(client, "200")
    order("/connections", reset_connections_every=2)
    for _ in range(4):
        await answered(sender(), "200")
    order("/connections", "DELETE")

    # With a certificate instead of a key.
    issued = order("/certificates")
    path = os.path.join(folder, "push.pem")
    with open(path, "w") as file:
        file.write(issued["certificate"] + issued["private_key"])
    certified = APNs(client_cert=path, ssl_context=ssl.create_default_context(cafile=trust), err_func=quiet)
    assert certified.pool.apns_topic == credentials["topic"]
    await asyncio.gather(*(answered(certified, "200", notification_id=str(uuid4())) for _ in range(50)))
    issued = order("/certificates", environment="development")
    with open(path, "w") as file:
        file.write(issued["certificate"] + issued["private_key"])
    stranger = APNs(client_cert=path, ssl_context=ssl.create_default_context(cafile=trust), err_func=quiet)
    await answered(stranger, "403", "BadCertificateEnvironment")


asyncio.run({"successes": successes, "failures": failures}[mode]())
print("done")
