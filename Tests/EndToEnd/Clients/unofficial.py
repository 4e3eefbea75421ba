"""Every method of azure-notification-hub-unofficial against a hub. Arguments: CONNECTION_STRING HUB LISTEN_CONNECTION_STRING."""

import sys
from datetime import datetime, timedelta, timezone

import azure_notification_hub as anh
from azure_notification_hub import AzureNHError, NotificationHubsClient

connection_string, hub, listening = sys.argv[1:]
client = NotificationHubsClient(connection_string, hub)

# The client discards response headers, and one of them has the id of a notification.
locations = []
client._client.event_hooks["response"].append(lambda answer: locations.append(answer.headers.get("location")))


def refused(status, call, *arguments):
    try:
        call(*arguments)
    except AzureNHError as error:
        assert error.status_code == status, error
        assert error.body.startswith(f"<Error><Code>{status}</Code><Detail>") or status == 403, error.body
        return
    raise AssertionError(f"{call.__name__}{arguments} was to be refused with {status}")


def last_id():
    return locations[-1].split("?")[0].split("/")[-1]


# Installations.
channel = {
    "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/abc",
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
browser = anh.create_browser_installation("browser-1", channel, tags=["user:1", "web"], expiration_time="2999-01-31T12:00:00Z")
assert client.create_or_update_installation(browser) == {}
read = client.get_installation("browser-1")
assert read["installationId"] == "browser-1" and read["platform"] == "browser", read
assert read["pushChannel"] == channel and read["tags"] == ["user:1", "web"], read
assert read["expirationTime"].startswith("2999-01-31T12:00:00"), read
phone = {
    "installationId": "phone-1",
    "platform": "apns",
    "pushChannel": "AB" * 32,
    "tags": ["user:2"],
    "templates": {"greeting": {"body": '{"aps":{"alert":"$(text)"}}'}},
}
assert client.create_or_update_installation(phone) == {}
patches = [
    {"op": "add", "path": "/tags", "value": "news"},
    {"op": "remove", "path": "/tags/user:2"},
    {"op": "replace", "path": "/pushVariables/name", "value": "Ana"},
]
assert client.update_installation("phone-1", patches) == {}
read = client.get_installation("phone-1")
assert read["tags"] == ["news"] and read["pushVariables"] == {"name": "Ana"}, read
refused(404, client.get_installation, "nobody")
refused(404, client.update_installation, "nobody", patches)
refused(400, client.update_installation, "phone-1", [{"op": "add", "path": "/colour", "value": "red"}])
refused(400, client.create_or_update_installation, {"installationId": "x", "platform": "typewriter", "pushChannel": "y"})

# Notifications of every kind that the client supports.
headers = {"apns-push-type": "alert", "apns-priority": "10", "apns-collapse-id": "c"}
notifications = [
    anh.create_apple_notification(anh.create_apple_body(alert="Hello", badge=1), headers),
    anh.create_fcm_legacy_notification(anh.create_fcm_legacy_body(data={"text": "Hello"})),
    anh.create_fcm_v1_notification({"message": {"notification": {"body": "Hello"}}}),
    anh.create_fcm_v1_notification(anh.create_fcm_v1_body(notification={"body": "Hello"})),
    anh.create_windows_notification(anh.create_windows_toast_body("Hello", launch="/page")),
    anh.create_windows_notification("<tile/>", wns_type="wns/tile"),
    anh.create_windows_notification('<badge value="1"/>', wns_type="wns/badge"),
    anh.create_windows_notification("Hello", wns_type="wns/raw", headers={"X-WNS-Cache-Policy": "cache"}),
    anh.create_windowsphone_notification(
        anh.create_windowsphone_toast_body("Hello", "you"), {"X-WindowsPhone-Target": "toast", "X-NotificationClass": "2"}
    ),
    anh.create_adm_notification(anh.create_adm_body(data={"text": "Hello"}, expires_after=60)),
    anh.create_baidu_notification(anh.create_baidu_body(title="Hello", description="you")),
    anh.create_browser_notification({"title": "Hello", "body": "you"}),
    anh.create_template_notification({"text": "Hello", "badge": 1}),
    anh.create_xiaomi_notification({"title": "Hello"}),
]
for notification in notifications:
    for send in [client.send_notification, client.send_broadcast_notification]:
        arguments = {"tag_expression": "news && !user:9"} if send == client.send_notification else {}
        assert send(notification, ttl=60, urgency="high", **arguments) == {}, notification
        assert "/messages/" in locations[-1] and locations[-1].endswith("?api-version=2020-06"), locations[-1]
apple, template = notifications[0], notifications[12]
tested = client.send_notification(template, tag_expression="greeting", test_send=True)
assert "<Success>1</Success>" in tested["_raw_xml"] and "<PnsHandle>" + "AB" * 32 in tested["_raw_xml"], tested
refused(400, client.send_notification, apple, "news &&")
refused(400, client.send_notification, {"platform": "pigeon", "body": "{}"})
refused(400, client.send_notification, anh.create_apple_notification("no JSON"))
refused(413, client.send_notification, anh.create_apple_notification({"aps": {"alert": "x" * 65536}}))

# Scheduled notifications.
moment = datetime.now(timezone.utc) + timedelta(hours=1)
for moment in [moment, moment.replace(tzinfo=None), moment.replace(microsecond=0)]:
    assert client.schedule_notification(moment, apple, tag_expression="news") == {}
    assert client.get_notification_outcome_details(last_id())["_raw_xml"].count("<State>Scheduled</State>") == 1
    assert client.schedule_broadcast_notification(moment, apple) == {}
    scheduled = last_id()
    assert client.cancel_scheduled_notification(scheduled) == {}
    refused(404, client.cancel_scheduled_notification, scheduled)
refused(400, client.schedule_notification, moment + timedelta(days=30), apple)

# Outcomes.
client.send_notification(apple, tag_expression="news")
sent = last_id()
assert f"<NotificationId>{sent}<" in client.get_notification_outcome_details(sent)["_raw_xml"]
refused(404, client.get_notification_outcome_details, "nothing")
try:
    # The interface returns a plain URL, which this client cannot parse: it expects JSON.
    client.get_feedback_container_url()
except (AzureNHError, ValueError):
    pass

# Registrations: those of the installations.
listed = client.list_registrations(top=50)
assert len(listed) == 3, listed
apns = [entry for entry in listed if entry.get("DeviceToken") == "AB" * 32]
assert len(apns) == 2 and all("$InstallationId:{phone-1}" in entry["Tags"] for entry in apns), listed
assert all(entry["etag"].startswith('W/"') and entry["title"] == entry["RegistrationId"] for entry in listed), listed
assert len(client.list_registrations(top=1)) == 1
one = client.get_registration(listed[0]["RegistrationId"])
assert one["RegistrationId"] == listed[0]["RegistrationId"] and one["ETag"] == listed[0]["ETag"], one
refused(404, client.get_registration, "1-2-3")
refused(404, client.delete_registration, "1-2-3")
refused(409, client.delete_registration, listed[0]["RegistrationId"])

# The client can delete a registration but not create one.
answer = client._client.post(
    client._request_url("/registrations"),
    headers=client._create_headers(),
    content='<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><GcmRegistrationDescription>'
    "<GcmRegistrationId>g</GcmRegistrationId></GcmRegistrationDescription></content></entry>",
)
assert answer.status_code == 200, answer.text
made = answer.headers["Content-Location"].split("?")[0].split("/")[-1]
assert client.get_registration(made)["GcmRegistrationId"] == "g"
assert client.delete_registration(made) == {}
refused(404, client.get_registration, made)

assert client.delete_installation("browser-1") == {}
assert client.delete_installation("browser-1") == {}
refused(404, client.get_installation, "browser-1")

# Without the right, with a wrong key, for another hub.
with NotificationHubsClient(listening, hub) as listener:
    assert listener.get_installation("phone-1")["tags"] == ["news"]
    refused(403, listener.send_notification, apple)
    refused(401, listener.list_registrations)
head, key = connection_string.split("SharedAccessKey=")
refused(401, NotificationHubsClient(f"{head}SharedAccessKey={key[::-1]}", hub).get_installation, "phone-1")
refused(401, NotificationHubsClient(connection_string, "elsewhere").get_installation, "phone-1")
assert NotificationHubsClient(f"{connection_string};EntityPath={hub}", "").get_installation("phone-1")["tags"] == ["news"]
client.close()
print("done")
