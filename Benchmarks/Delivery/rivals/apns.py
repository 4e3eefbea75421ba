"""Pushes through aioapns, 500 at a time: apns.py PORT FOLDER COUNT; prints the cost of sending."""
import asyncio
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest
from aioapns.connection import APNsTLSClientProtocol, APNsProductionClientProtocol

from measure import Sending

port, folder, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
logging.disable(logging.CRITICAL)
APNsTLSClientProtocol.APNS_PORT = port
APNsProductionClientProtocol.APNS_SERVER = "localhost"


async def main():
    trust = ssl.create_default_context(cafile=f"{folder}/certificate.pem")
    with open(f"{folder}/key.pem") as file:
        key = file.read()
    client = APNs(
        key=key, key_id="KEY1234567", team_id="TEAM123456", topic="com.example.app", use_sandbox=False, max_connections=1,
        ssl_context=trust)
    numbers = iter(range(count))

    async def send(sending):
        for number in numbers:
            text = "x" * 120
            answer = await client.send_notification(
                NotificationRequest(
                    device_token=f"{number:064x}",
                    message={"aps": {"alert": {"title": "A title of usual length", "body": text}, "sound": "default"}}))
            sending.accepted += answer.is_successful

    with Sending() as sending:
        await asyncio.gather(*(send(sending) for _ in range(500)))


asyncio.run(main())
