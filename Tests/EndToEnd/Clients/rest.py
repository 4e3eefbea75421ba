"""Every method of notificationhubs-rest-python against a hub. Arguments: CONNECTION_STRING HUB LISTEN_CONNECTION_STRING."""

import contextlib
import io
import sys
from datetime import datetime, timedelta, timezone

from notificationhubs_rest_python.NotificationHub import AzureNotification, AzureNotificationHub

connection_string, hub, listening = sys.argv[1:]
client = AzureNotificationHub(connection_string, hub)


def refused(status, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        assert f"Received HTTP code {status} " in str(error), error
        return
    raise AssertionError(f"{call.__name__}{arguments} was to be refused with {status}")


moment = datetime.now(timezone.utc) + timedelta(hours=1)
alert = {"aps": {"alert": "Hello"}}
toast = '<toast><visual><binding template="ToastText01"><text id="1">Hello</text></binding></visual></toast>'
phone_toast = (
    '<?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>Hello</wp:Text1></wp:Toast>'
    "</wp:Notification>"
)
channel = "https://db5.notify.windows.com/?token=AwYAAA"
for send, payload, handle in [
    (client.send_apple_notification, alert, "AB" * 32),
    (client.send_google_notification, {"data": {"text": "Hello"}}, "g:1"),
    (client.send_amazon_notification, {"data": {"text": "Hello"}}, "adm-1"),
    (client.send_baidu_notification, {"title": "Hello", "description": "you"}, "user-channel"),
    (client.send_windows_phone_notification, phone_toast, channel),
    (client.send_windows_phone_notification, phone_toast.replace("Toast", "Tile"), channel),
    (client.send_windows_notification, toast, channel),
    (client.send_windows_notification, "<tile></tile>", channel),
    (client.send_windows_notification, '<badge value="1"/>', channel),
]:
    for options in [{}, {"tags": "news"}, {"tags": {"news", "weather"}}, {"scheduled_time": moment, "tags": "news"}]:
        status, headers = send(False, payload, **options)
        assert status == 201, (send, options)
    status, headers = send(True, payload, device_handle=handle)
    assert status == 201 and headers["ServiceBusNotification-DeviceHandle"] == handle, headers
    status, headers = send(False, payload, tags="news", skip_send=True)
    assert status == 201 and headers["ServiceBusNotification-Tags"] == "news", headers
for options in [{}, {"tags": "news"}, {"tags": {"news", "weather"}}, {"scheduled_time": moment}]:
    status, headers = client.send_template_notification({"text": "Hello", "count": 3}, **options)
    assert status == 201, options

try:
    client.send_apple_notification(True, alert)
except Exception as error:
    assert "Missing PNS device handle" in str(error), error
else:
    raise AssertionError("the client must refuse a direct send without a handle")
try:
    AzureNotification("pigeon")
except Exception as error:
    assert "Invalid Notification format" in str(error), error
else:
    raise AssertionError("the client must refuse an unknown format")

refused(400, client.send_apple_notification, False, alert, tags="news &&")
refused(400, client.send_apple_notification, True, alert, device_handle="no token")
refused(400, client.send_apple_notification, False, alert, scheduled_time=moment + timedelta(days=30))
refused(413, client.send_apple_notification, False, {"aps": {"alert": "x" * 65536}})

# The client prints the response to a test send.
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    status, headers = AzureNotificationHub(connection_string, hub, debug=1).send_apple_notification(False, alert)
assert status == 201 and "<NotificationOutcome " in printed.getvalue(), printed.getvalue()

# Settings are class attributes, so that each client replaces the one before.
refused(403, AzureNotificationHub(listening, hub).send_apple_notification, False, alert)
head, key = connection_string.split("SharedAccessKey=")
refused(401, AzureNotificationHub(f"{head}SharedAccessKey={key[::-1]}", hub).send_apple_notification, False, alert)
refused(401, AzureNotificationHub(connection_string, "elsewhere").send_apple_notification, False, alert)
print("done")
