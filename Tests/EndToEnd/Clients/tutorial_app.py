"""The apps of the tutorials against an app backend. Arguments: ENDPOINT CONNECTION_STRING HUB SIMULATORS.

Users log in as in the tutorials, with the user name as the password.
"""

import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.parse
import uuid

import requests

endpoint, connection_string, hub, simulators = sys.argv[1:]
PHONES = {"alice": "A1" * 32, "bob": "B0" * 32}
WNS_CHANNEL = "https://db5p.notify.windows.com/?token=AwYAAABob3c%3d"


def header(user, password=None, scheme="Basic"):
    pair = f"{user}:{user if password is None else password}".encode()
    return {"Authorization": f"{scheme} {base64.b64encode(pair).decode()}"}


def call(method, path, user="alice", status=200, base="", headers=None, **options):
    sent = {**(header(user) if isinstance(user, str) else user or {}), **(headers or {})}
    answer = requests.request(method, f"{endpoint}{base}/api{path}", headers=sent, timeout=120, **options)
    assert answer.status_code == status, (method, path, answer.status_code, answer.text)
    return answer


seen = 0


def arrived(handle, part):
    """Waits for the next push to a handle whose payload contains this part, and returns the payload."""
    global seen
    patience = time.monotonic() + 300
    while time.monotonic() < patience:
        lines = requests.get(f"{simulators}/ledger?after={seen}", timeout=60).text.splitlines()
        for line in map(json.loads, lines):
            seen = line["number"]
            if line["handle"].upper() == handle.upper() and part in line["payload"]:
                assert line["status"] in (200, 201), line
                return line["payload"]
    raise AssertionError(f"nothing with {part!r} came to {handle}")


def nothing(handle, since):
    """Asserts that a handle got nothing since that number of the ledger."""
    for line in requests.get(f"{simulators}/ledger?after={since}&limit=1000", timeout=60).text.splitlines():
        assert json.loads(line)["handle"].upper() != handle.upper(), line


def registered(user, platform, handle, base="", tags=()):
    """Registers as the app of 2014 does: gets an id for the handle, then puts the registration; on 410 repeats with a new id."""
    answer = call("POST", "/register", user, base=base, params={"handle": handle})
    assert answer.headers["Content-Type"].startswith("application/json"), answer.headers
    identifier = answer.text[1:-1]
    assert json.loads(answer.text) == identifier
    put(user, identifier, platform, handle, base, tags)
    return identifier


def put(user, identifier, platform, handle, base="", tags=(), status=200):
    body = {"Platform": platform, "Handle": handle, "Tags": list(tags)}
    return call("PUT", f"/register/{identifier}", user, status, base, json=body)


# Missing, malformed and wrong credentials get 403 with an empty body.
for credentials in [{}, header("alice", "wrong"), header("alice", "Alice"), {"Authorization": "Basic !"}, {"Authorization": "Bearer"}]:
    answer = call("POST", "/notifications", credentials, 403)
    assert answer.content == b"" and "WWW-Authenticate" not in answer.headers, answer.headers
# The authentication scheme and the path are case-insensitive.
call("POST", "/REGISTER/", header("alice", scheme="bASIC"))

# 2014: notify users.
ids = {user: registered(user, "apns", handle, tags=["news"]) for user, handle in PHONES.items()}
assert call("POST", "/register", params={"handle": PHONES["alice"].lower()}).json() == ids["alice"]
answer = call("POST", "/notifications")
assert answer.content == b"" and answer.headers["Notification-Id"], answer.headers
assert json.loads(arrived(PHONES["alice"], "Hello")) == {"aps": {"alert": "Hello, alice"}}
nothing(PHONES["bob"], 0)
put("alice", ids["alice"], "pigeon", "x", status=400)
call("PUT", f"/register/{ids['alice']}", json={"platform": "apns", "handle": PHONES["alice"], "tags": None})
shown = call(
    "PUT", f"/register/{ids['alice']}", headers={"Prefer": "return=representation"}, json={"Platform": "apns", "Handle": PHONES["alice"]}
).json()
assert shown["RegistrationId"] == ids["alice"] and shown["Tags"] == ["username:alice"], shown

# A deleted registration id: 410, then a new id.
call("DELETE", f"/register/{ids['alice']}")
put("alice", ids["alice"], "apns", PHONES["alice"], status=410)
again = call("POST", "/register", params={"handle": PHONES["alice"]}).json()
assert again != ids["alice"]
put("alice", again, "apns", PHONES["alice"])
put("bob", again, "gcm", "bobs-token", status=403)
call("DELETE", f"/register/{again}", "bob", 403)

# The same on other platforms.
registered("carol", "gcm", "carols-token")
registered("carol", "wns", WNS_CHANNEL)
call("POST", "/notifications", "carol")
assert "<text id=\"1\">Hello, carol</text>" in arrived(WNS_CHANNEL, "ToastText01")

# 2015: to another user, on one platform.
text = 'Are you <there>, "Bob" & co?'
call("POST", "/notifications", params={"pns": "APNS", "to_tag": "bob"}, data=json.dumps(text), headers={"Content-Type": "application/json"})
assert json.loads(arrived(PHONES["bob"], "From")) == {"aps": {"alert": f"From alice: {text}"}}
call("POST", "/notifications", "bob", params={"pns": "wns", "to_tag": "carol"}, json="1 < 2")
assert "From bob: 1 &lt; 2" in arrived(WNS_CHANNEL, "From bob")
for platform in ["gcm", "fcm", "fcmv1"]:
    call("POST", "/notifications", params={"pns": platform, "to_tag": "carol"}, json="Hi")
call("POST", "/notifications", params={"pns": "pigeon", "to_tag": "bob"}, json="Hi", status=400)
call("POST", "/notifications", params={"pns": "apns"}, json="Hi", status=400)
# A tag from:USER does not give its owner a copy, as in the sample.
registered("eve", "apns", "EE" * 32, tags=["from:alice"])
mark = seen
call("POST", "/notifications", params={"pns": "apns", "to_tag": "bob"}, json="Between us")
arrived(PHONES["bob"], "Between us")
nothing("EE" * 32, mark)

# Cross-platform: templates are stored, one template notification is sent.
registered("dave", "apns", "DA" * 32, "/tutorials/cross-platform")
registered("dave", "mpns", "https://mpns.example/dave", "/tutorials/cross-platform")
call("POST", "/notifications", "dave", base=f"/{hub}/tutorials/cross-platform")
assert json.loads(arrived("DA" * 32, "Hello")) == {"aps": {"alert": "Hello, dave"}}

# Secure push: only the id crosses the wire, and the app fetches the payload.
secure = "/tutorials/secure-push"
call("POST", "/notifications", base=secure)
wake = json.loads(arrived(PHONES["alice"], "secureId"))
assert wake["aps"] == {"content-available": 1} and set(wake) == {"aps", "secureId"}, wake
number = int(wake["secureId"])
kept = call("GET", f"/notifications/{number}", base=secure).json()
assert kept["Id"] == number and kept["Payload"] == "Secure confirmation." and kept["Read"] is False, kept
call("GET", f"/notifications/{number}", "bob", 403, secure)
call("GET", "/notifications/0", status=404, base=secure)
made = call("POST", "/notifications", json={"to": "bob", "payload": {"code": "4711"}, "maxReads": 1}, status=201).json()
assert json.loads(arrived(PHONES["bob"], "secureId"))["secureId"] == made["id"]
answer = call("GET", f"/notifications/{made['id']}", "bob")
assert answer.headers["Cache-Control"] == "no-store" and answer.json()["Content"] == {"code": "4711"}, answer.text
assert '"4711"' not in call("GET", f"/notifications/{made['id']}", "bob", 410).text
assert [read["result"] for read in call("GET", f"/notifications/{made['id']}/reads").json()["items"]] == ["granted", "exhausted"]
made = call("POST", "/notifications", json={"to": "bob", "payload": "x", "expiresIn": 60}, status=201).json()
call("DELETE", f"/notifications/{made['id']}", status=204)
call("GET", f"/notifications/{made['id']}", "bob", 410)

# 2013: the current user.
installation = str(uuid.uuid4())
current = {"platform": "ios", "instId": installation, "deviceToken": "F0" * 32, "channelUri": None}
first = call("POST", "/register", "frank", json=current).json()
assert first["DeviceToken"] == "F0" * 32 and set(first["Tags"]) == {installation, "frank"}, first
assert json.loads(arrived("F0" * 32, "Test"))["inAppMessage"] == "Test notification for frank"
current["deviceToken"] = "F1" * 32
second = call("POST", "/register", "frank", json=current).json()
assert second["DeviceToken"] == "F1" * 32, second
arrived("F1" * 32, "Test notification for frank")
for wrong in [{**current, "platform": "pigeon"}, {**current, "deviceToken": None}, {**current, "instId": "1"}]:
    call("POST", "/register", "frank", 400, json=wrong)

# A session instead of the password.
login = call("POST", "/login", {}, json={"username": "alice", "password": "alice"}).json()
assert login["username"] == "alice" and login["tokenType"] == "Bearer" and login["expiresAt"].endswith("Z"), login
bearer = {"Authorization": f"Bearer {login['token']}"}
call("POST", "/notifications", bearer)
arrived(PHONES["alice"], "Hello, alice")
call("POST", "/logout", bearer, 204)
refused = call("POST", "/notifications", bearer, 401)
assert refused.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"', refused.headers
assert refused.headers["Content-Type"] == "application/problem+json" and login["token"] not in refused.text
call("POST", "/login", {}, 401, json={"username": "alice", "password": "wrong"})
call("POST", "/register", "alice", 413, data=b'"' + b"a" * 500_000 + b'"')


# Breaking news, directly at the hub.
parts = dict(part.split("=", 1) for part in connection_string.split(";") if part)
address = parts["Endpoint"].rstrip("/")


def at_hub(method, path, **options):
    target = urllib.parse.quote_plus(f"{address}/{hub}".lower()).lower()
    expiry = str(int(time.time()) + 300)
    digest = hmac.new(parts["SharedAccessKey"].encode(), f"{target}\n{expiry}".encode(), hashlib.sha256).digest()
    signature = urllib.parse.quote_plus(base64.b64encode(digest))
    token = f"SharedAccessSignature sr={target}&sig={signature}&se={expiry}&skn={parts['SharedAccessKeyName']}"
    headers = {"Authorization": token, **options.pop("headers", {})}
    return requests.request(method, f"{address}/{hub}/{path}", headers=headers, timeout=120, **options)


def entry(handle, tags, name, body):
    return (
        '<entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml"><AppleTemplateRegistrationDescription '
        'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">'
        f"<Tags>{','.join(tags)}</Tags><DeviceToken>{handle}</DeviceToken><BodyTemplate><![CDATA[{body}]]></BodyTemplate>"
        f"<Expiry>0</Expiry><TemplateName>{name}</TemplateName></AppleTemplateRegistrationDescription></content></entry>"
    )


def subscribed(handle, tags, name, body):
    made = at_hub("POST", "registrationids/?api-version=2013-04")
    assert made.status_code == 201, made.text
    identifier = urllib.parse.urlparse(made.headers["Location"]).path.split("/")[-1]
    answer = at_hub(
        "PUT", f"Registrations/{identifier}?api-version=2013-04", data=entry(handle, tags, name, body).encode(),
        headers={"Content-Type": "application/xml"},
    )
    assert answer.status_code == 200 and f"<TemplateName>{name}</TemplateName>" in answer.text, answer.text
    return identifier


reader, polyglot = "1E" * 32, "2E" * 32
listed = at_hub("GET", f"Registrations/?$filter=deviceToken+eq+'{reader}'&api-version=2013-04")
assert listed.status_code in (200, 404), listed.text
subscribed(reader, ["World", "Science"], "simpleAPNSTemplate", '{"aps":{"alert":"$(messageParam)"}}')
identifier = subscribed(
    polyglot, ["World"], "localizednewsTemplate", '{"aps":{"alert":"$(News_French)"},"inAppMessage":"$(News_French)"}'
)
listed = at_hub("GET", f"Registrations/?$filter=deviceToken+eq+'{polyglot}'&api-version=2013-04")
assert listed.status_code == 200 and identifier in listed.text, listed.text
news = {f"News_{language}": f"Breaking World News in {language}!" for language in ["English", "French", "Mandarin"]}
for category in ["World", "Politics", "Business", "Technology", "Science", "Sports"]:
    answer = at_hub(
        "POST", "messages/?api-version=2015-01", json={"messageParam": f"Breaking {category} News : text", **news},
        headers={"ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": category},
    )
    assert answer.status_code == 201, answer.text
assert json.loads(arrived(reader, "Science")) == {"aps": {"alert": "Breaking Science News : text"}}
seen = 0
assert json.loads(arrived(reader, "World")) == {"aps": {"alert": "Breaking World News : text"}}
seen = 0
assert json.loads(arrived(polyglot, "News"))["inAppMessage"] == "Breaking World News in French!"
gone = at_hub("DELETE", f"Registrations/{identifier}?api-version=2013-04", headers={"If-Match": "*"})
assert gone.status_code == 200, gone.text
answer = at_hub(
    "PUT", f"Registrations/{identifier}?api-version=2013-04", data=entry(polyglot, ["World"], "localizednewsTemplate", "{}").encode(),
    headers={"Content-Type": "application/xml"},
)
assert answer.status_code == 410, answer.text
print("done")
