"""The control plane of pushhost simulate, for the scripts in this folder."""

import json

import requests


class Control:
    def __init__(self, port):
        self.address = f"http://127.0.0.1:{port}"
        self.credentials = self.get("/credentials")

    def call(self, path, method="POST", **fields):
        answer = requests.request(method, self.address + path, json=fields or None, timeout=60)
        assert answer.ok, answer.text
        return answer

    def get(self, path):
        return self.call(path, "GET").json()

    def phone(self, name, platform):
        """Adds a phone and returns its handle, or the subscription of a browser."""
        made = self.call("/phones", name=name, platform=platform).json()
        return made.get("subscription") or made["handle"]

    def texts(self, name):
        return [item["text"] for item in self.get(f"/phones/{name}")["inbox"]]

    def ledger(self):
        """Returns the service, status and reason of every notification."""
        lines = map(json.loads, self.call("/ledger?limit=1000", "GET").text.splitlines())
        return [(line["service"], line["status"], line["reason"]) for line in lines]

    def fault(self, service, **fields):
        """Sets a fault for the body of a `with` statement."""
        return _Fault(self, service, fields)


class _Fault:
    def __init__(self, control, service, fields):
        self.control, self.service, self.fields = control, service, fields

    def __enter__(self):
        self.control.call(f"/faults/{self.service}", **self.fields)

    def __exit__(self, *error):
        self.control.call(f"/faults/{self.service}", "DELETE")

