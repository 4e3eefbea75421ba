"""Pushes through firebase-admin, 500 per call: fcm.py PORT FOLDER COUNT threads|async; prints the cost of sending.

It has two modes: requests in threads over HTTP/1.1, and httpx over HTTP/2. The access token is given, not fetched.
"""
import asyncio
import os
import sys

port, folder, count, way = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
for name in "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE":
    os.environ[name] = f"{folder}/certificate.pem"

import firebase_admin
import google.oauth2.credentials
from firebase_admin import credentials, messaging

from measure import Sending


class Given(credentials.Base):
    def get_credential(self):
        return google.oauth2.credentials.Credentials("ya29." + "e" * 205)


messaging._MessagingService.FCM_URL = f"https://localhost:{port}/v1/projects/{{0}}/messages:send"
firebase_admin.initialize_app(Given(), {"projectId": "shop"})


def batch(first):
    notification = messaging.Notification(title="A title of usual length", body="x" * 122)
    tokens = (f"{number:022x}:APA91b" + "e" * 134 for number in range(first, first + 500))
    return [messaging.Message(token=token, notification=notification) for token in tokens]


def results():
    firsts = range(0, count, 500)
    if way == "threads":
        yield from (messaging.send_each(batch(first)) for first in firsts)
    else:
        with asyncio.Runner() as runner:
            for first in firsts:
                yield runner.run(messaging.send_each_async(batch(first)))


with Sending() as sending:
    for result in results():
        sending.accepted += result.success_count
