import PushModel
import Testing

/// Authorization and errors, in the formats that Azure's clients send and parse.
@Suite struct RecordedRefusalTests {
    private func call(
        _ hub: ServedHub, _ method: String, _ path: String, token: String?, _ headers: [String] = [], body: String = ""
    ) async throws -> WireAnswer {
        let lines = headers + (token.map { ["Authorization: \($0)"] } ?? [])
        return try await WireAnswer.exchange(method, path, lines, body: Array(body.utf8), port: hub.port)
    }

    @Test func `a token is valid for its resource and everything below, whatever the scheme, port and query`() async throws {
        try await ServedHub.serving { hub in
            let headers = ["ServiceBusNotification-Format: apple"]
            for resource in [
                "http://localhost/hub/messages/", "sb://localhost:\(hub.port)/", "https://LOCALHOST", "http://localhost:\(hub.port)/hub",
                "https://localhost/hub/messages?api-version=2020-06&direct", "http://localhost/Hub/",
            ] {
                let token = try hub.token(.full, resource: resource)
                let sent = try await call(
                    hub, "POST", "/hub/messages?api-version=2020-06", token: token, headers, body: #"{"aps":{"alert":"Hello"}}"#)
                #expect(sent.status == 201, "\(resource)")
            }
        }
    }

    @Test func `a request without a valid token is rejected with 401 and the reason`() async throws {
        try await ServedHub.serving { hub in
            let path = "/hub/registrations?api-version=2020-06"
            let stranger = SharedAccessKey.make(SeededRandom(seed: 1))
            for (token, reason) in [
                (nil, "The request has no Authorization header."),
                ("Basic YTpi", "The Authorization header is not a SharedAccessSignature."),
                ("SharedAccessSignature sr=x", "The SharedAccessSignature has no se."),
                (try hub.token(.full, key: stranger), "InvalidSignature: The token has an invalid signature."),
                (try hub.token(.full, seconds: -3600), "ExpiredToken: The token has expired."),
                (try hub.token(.full, resource: "sb://elsewhere/hub"), "InvalidAudience: The token is for another resource."),
                (try hub.token(.full, resource: "sb://localhost/hu"), "InvalidAudience: The token is for another resource."),
                (try hub.token(.listen), "Manage claim is required for this operation."),
            ] {
                let answer = try await call(hub, "GET", path, token: token)
                #expect(answer.status == 401)
                #expect(answer["Content-Type"] == "application/xml; charset=utf-8")
                #expect(answer.body.hasPrefix("<Error><Code>401</Code><Detail>\(reason)"), "\(answer.body)")
                let id = try #require(answer["TrackingId"])
                let end = try Regex("TrackingId:\(id),TimeStamp:\\d+/\\d+/\\d{4} \\d+:\\d\\d:\\d\\d [AP]M</Detail></Error>$")
                #expect(answer.body.contains(end), "\(answer.body)")
            }
        }
    }

    @Test func `a send with a key that has only Listen is rejected with 403 and an empty body`() async throws {
        try await ServedHub.serving { hub in
            for path in ["/hub/messages", "/hub/messages/$batch?direct", "/hub/schedulednotifications"] {
                let answer = try await hub.call("POST", path, ["ServiceBusNotification-Format": "apple"], body: "{}", by: .listen)
                #expect(answer.status == 403)
                #expect(answer.body.isEmpty)
                #expect(answer["Content-Length"] == "0")
                #expect(answer["Retry-After"] == nil)
            }
        }
    }

    @Test func `a body that is too large is rejected with 413, and an unsupported method with 405 and Allow`() async throws {
        try await ServedHub.serving { hub in
            let body = String(repeating: "x", count: (64 << 10) + 1)
            let large = try await hub.call("POST", "/hub/messages", ["ServiceBusNotification-Format": "windows"], body: body)
            #expect(large.status == 413)
            #expect(large.body.hasPrefix("<Error><Code>413</Code><Detail>"))
            for (method, path, allowed) in [
                ("DELETE", "/hub/registrations", "GET, HEAD, POST"), ("POST", "/hub/installations/i", "GET, HEAD, PUT, PATCH, DELETE"),
                ("GET", "/hub/messages", "POST"), ("PATCH", "/hub", "GET, HEAD, PUT, DELETE"), ("PUT", "/", "GET, HEAD"),
                ("GET", "/hub/schedulednotifications/s", "DELETE"),
            ] {
                let answer = try await hub.call(method, path, by: .root)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer["Allow"] == allowed)
                #expect(answer.body.hasPrefix("<Error><Code>405</Code><Detail>"))
            }
        }
    }

    @Test func `the response repeats the client's request id`() async throws {
        try await ServedHub.serving { hub in
            let id = "0f6f2b1e-6f0c-4a53-9a7e-0d2b8d1c9a77"
            let answer = try await hub.call("GET", "/hub/registrations/1-2-3", ["TrackingId": id])
            #expect(answer.status == 404)
            #expect(answer["TrackingId"] == id)
            #expect(answer["x-ms-correlation-request-id"] == id)
            #expect(answer.body.contains("TrackingId:\(id),"))
            for garbage in ["a b", String(repeating: "x", count: 65), "<b>"] {
                let answer = try await hub.call("GET", "/hub/registrations/1-2-3", ["TrackingId": garbage])
                #expect(answer["TrackingId"]?.wholeMatch(of: /[0-9a-f-]{36}/) != nil)
            }
        }
    }
}
