"""firebase-admin against the simulated FCM. Arguments: PORT CONTROL_PORT.

Within one call firebase-admin retries 500, 503, and 429 with Retry-After, up to four times, and sleeps in between. The sleeps are
skipped here.
"""

import asyncio
import datetime
import sys
import time

import firebase_admin
import google.auth.exceptions
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from firebase_admin import credentials, exceptions, messaging

from simulators import Control

port, control_port = sys.argv[1:]
control = Control(control_port)
time.sleep = lambda seconds: None
messaging._MessagingService.FCM_URL = f"https://localhost:{port}/v1/projects/{{0}}/messages:send"
account = control.credentials["fcm"]
assert account["token_uri"] == f"https://localhost:{port}/token"
app = firebase_admin.initialize_app(credentials.Certificate(account))

bob = control.phone("bob", "fcm")
ada = control.phone("ada", "fcm")
STRANGER = bob[:-4] + "AAAA"
HELLO = messaging.Notification(title="News", body="Hello")


def another(name, **changes):
    """Returns the same app with another account."""
    return firebase_admin.initialize_app(credentials.Certificate({**account, **changes}), name=name)


def refused(kind, message=None, app=app, **fields):
    """Sends, expects exactly this type of exception, and returns it."""
    message = message or messaging.Message(**{"token": bob, "notification": HELLO, **fields})
    try:
        messaging.send(message, app=app)
    except exceptions.FirebaseError as error:
        assert type(error) is kind, (type(error), error)
        return error
    raise AssertionError(f"not {kind.__name__}")


def attempts(before):
    return len(control.ledger()) - before


# Messages that arrive.
name = messaging.send(messaging.Message(token=bob, notification=HELLO, data={"article": "7"}))
assert name.startswith(f"projects/{account['project_id']}/messages/0:"), name
assert control.texts("bob") == ["News\nHello"]
assert messaging.send(messaging.Message(token=bob, notification=HELLO), dry_run=True).endswith("/fake_message_id")
assert control.texts("bob") == ["News\nHello"]
assert messaging.send(messaging.Message(topic="news", notification=HELLO))
assert messaging.send(messaging.Message(condition="'news' in topics && !('sport' in topics)", notification=HELLO))
messaging.send(
    messaging.Message(
        fid=ada.split(":")[0],
        notification=HELLO,
        android=messaging.AndroidConfig(
            collapse_key="k", priority="high", ttl=3600, notification=messaging.AndroidNotification(tag="t", channel_id="c")
        ),
        apns=messaging.APNSConfig(headers={"apns-priority": "10"}, payload=messaging.APNSPayload(messaging.Aps(badge=1))),
        webpush=messaging.WebpushConfig(headers={"Urgency": "high"}, notification=messaging.WebpushNotification(title="News")),
        fcm_options=messaging.FCMOptions(analytics_label="label"),
    )
)
assert control.texts("ada") == ["News\nHello"]
# Every Android option, as the SDK spells it.
dressed = messaging.AndroidNotification(
    title="News", body="Hello", icon="i", color="#00ffa9", sound="s", click_action="c", body_loc_key="b", body_loc_args=["a"],
    image="https://example.com/i.png", ticker="t", sticky=True, local_only=False, notification_count=3,
    event_timestamp=datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.timezone.utc), priority="max", visibility="secret",
    vibrate_timings_millis=[100, 1500], default_vibrate_timings=False, default_sound=True, default_light_settings=False,
    light_settings=messaging.LightSettings(color="#11223344", light_on_duration_millis=100, light_off_duration_millis=2000),
)  # fmt: skip
label = messaging.AndroidFCMOptions(analytics_label="a")
messaging.send(
    messaging.Message(
        token=bob,
        android=messaging.AndroidConfig(notification=dressed, fcm_options=label, direct_boot_ok=True),
        apns=messaging.APNSConfig(fcm_options=messaging.APNSFCMOptions(analytics_label="a", image="https://example.com/i.png")),
        webpush=messaging.WebpushConfig(fcm_options=messaging.WebpushFCMOptions(link="https://example.com/")),
    ),
    dry_run=True,
)

# Many messages at once, in threads with requests, and over HTTP/2 with httpx. A third of them go to an unknown device.
messages = [messaging.Message(token=token, data={"n": str(number)}) for number, token in enumerate([bob, STRANGER, ada] * 10)]
for batch in [messaging.send_each(messages), asyncio.run(messaging.send_each_async(messages))]:
    assert (batch.success_count, batch.failure_count) == (20, 10)
    assert [type(one.exception) for one in batch.responses[:3]] == [type(None), messaging.UnregisteredError, type(None)]

# Errors of a device.
refused(messaging.UnregisteredError, token=STRANGER)
refused(messaging.UnregisteredError, messaging.Message(fid="A" * 22, notification=HELLO))
control.call("/phones/ada", "DELETE")
gone = refused(messaging.UnregisteredError, token=ada)
assert gone.http_response.status_code == 404 and gone.code == exceptions.NOT_FOUND
bad = refused(exceptions.InvalidArgumentError, token="no token")
assert "registration token" in str(bad) and "FcmError" in bad.http_response.text and "BadRequest" not in bad.http_response.text

# Errors in the message.
bad = refused(exceptions.InvalidArgumentError, data={"from": "me"})
assert "Invalid data payload key: from" in str(bad) and "fieldViolations" in bad.http_response.text
refused(exceptions.InvalidArgumentError, data={"text": "x" * 4097})
hasty = messaging.APNSConfig(headers={"apns-priority": "7"})
assert "fieldViolations" in refused(exceptions.InvalidArgumentError, apns=hasty).http_response.text

# Faults of the service, and the number of attempts that firebase-admin makes.
for reason, kind, status, tries in [
    ("SENDER_ID_MISMATCH", messaging.SenderIdMismatchError, 403, 1),
    ("THIRD_PARTY_AUTH_ERROR", messaging.ThirdPartyAuthError, 401, 3),
    ("INVALID_ARGUMENT", exceptions.InvalidArgumentError, 400, 1),
    ("UNREGISTERED", messaging.UnregisteredError, 404, 1),
    ("QUOTA_EXCEEDED", messaging.QuotaExceededError, 429, 5),
    ("UNAVAILABLE", exceptions.UnavailableError, 503, 5),
    ("INTERNAL", exceptions.InternalError, 500, 5),
]:
    before = len(control.ledger())
    with control.fault("fcm", reason=reason, handle=bob):
        error = refused(kind)
    assert error.http_response.status_code == status, error.http_response.text
    assert attempts(before) == tries, (reason, attempts(before))
    assert ("Retry-After" in error.http_response.headers) == (status in (429, 503))
with control.fault("fcm", reason="QUOTA_EXCEEDED", retry_after=7):
    assert refused(messaging.QuotaExceededError).http_response.headers["Retry-After"] == "7"

# Retry-After is over: the second attempt succeeds.
control.call("/faults/fcm", reason="UNAVAILABLE", count=1, retry_after=0)
assert messaging.send(messaging.Message(token=bob, notification=HELLO))

# A project that this account does not belong to.
stranger = firebase_admin.initialize_app(credentials.Certificate(account), {"projectId": "another"}, name="another")
missing = refused(exceptions.NotFoundError, app=stranger)
assert "FcmError" not in missing.http_response.text

# A revoked access token is renewed without an error.
control.call("/tokens/fcm", "DELETE")
assert messaging.send(messaging.Message(token=bob, notification=HELLO))
assert control.ledger()[-2:] == [("fcm", 401, "UNAUTHENTICATED"), ("fcm", 200, None)]

# Access tokens that the service does not issue.
pem = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def ungranted(app, word):
    try:
        messaging.send(messaging.Message(token=bob, notification=HELLO), app=app)
    except google.auth.exceptions.RefreshError as error:
        assert word in str(error), error
    else:
        raise AssertionError(f"not {word}")


before = len(control.ledger())
ungranted(another("forger", private_key=pem), "invalid_grant: Invalid JWT Signature")
ungranted(another("nobody", client_email="nobody@example.com"), "invalid_grant: Invalid grant: account not found")
ungranted(another("old", private_key_id="0000"), "invalid_grant: Invalid JWT Signature")
for word in ["invalid_grant", "invalid_client", "unauthorized_client", "server_error", "temporarily_unavailable"]:
    with control.fault("fcm", reason=word, at="token"):
        ungranted(another(word), word)
assert attempts(before) == 0

# Connections that are reset or stop responding.
for order in [{"reset_every": 1}, {"reset_connections_every": 1}]:
    control.call("/connections", service="fcm", **order)
    try:
        messaging.send(messaging.Message(token=bob, notification=HELLO))
        raise AssertionError(f"not broken by {order}")
    except (exceptions.UnavailableError, google.auth.exceptions.TransportError, requests.exceptions.ConnectionError) as error:
        pass
    control.call("/connections", "DELETE")
control.call("/connections", service="fcm", goaway_every=1)
for _ in range(3):
    assert messaging.send(messaging.Message(token=bob, notification=HELLO))
print("done")
