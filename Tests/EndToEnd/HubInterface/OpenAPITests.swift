import Foundation
import HostSupport
import Support
import Testing

/// Tests the JSON API against `/openapi.json`, with valid and invalid requests generated from the document.
@Suite struct OpenAPITests {
    private static let tool = BuiltProgram.root.appending(path: ".build/python/bin/schemathesis")
    private static let configuration = BuiltProgram.root.appending(path: "Tests/EndToEnd/Clients/schemathesis.toml").path
    /// Operations that delete the hub, or the key that signs the requests. They come last.
    private static let dangerous = ["deleteHub", "rotateServerKey", "deleteServerKey"]

    private static func check(_ hub: ServedHub, notification: String, _ arguments: [String]) async throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: tool.path), "there is no \(tool.path); run make test, which makes it")
        let folder = try ScriptFolder()
        let run = try await BuiltProgram.run(
            [
                "--config-file", configuration, "run", "http://localhost:\(hub.port)/openapi.json", "--header",
                "Authorization: \(try hub.token(.root))", "--checks", "all", "--max-examples", "8", "--seed", "1", "--no-color",
                // The machine may be slow.
                "--suppress-health-check", "too_slow", "--request-timeout", "600",
            ] + arguments, tool: tool, in: folder.url,
            environment: ["NOTIFICATION": notification, "PYTHONDONTWRITEBYTECODE": "1", "HOME": folder.url.path])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("No issues found") || run.output.contains("Missing test data"), "\(run.output)")
    }

    /// The id of a notification to an installation, for the document's examples.
    private static func notification(_ hub: ServedHub) async throws -> String {
        let installation = """
            {"installationId":"device-1","platform":"apns","pushChannel":"\(String(repeating: "AB", count: 32))","tags":["news"]}
            """
        let installed = try await hub.call("PUT", "/hub/installations/device-1?api-version=2020-06", body: installation)
        #expect(installed.status == 200)
        let sent = try await hub.call(
            "POST", "/hub/messages?api-version=2020-06", ["ServiceBusNotification-Format": "apple", "Content-Type": "application/json"],
            body: #"{"aps":{"alert":"Hello"}}"#)
        let location = try #require(sent["Location"])
        return String(try #require(location.firstMatch(of: /messages\/([^?]+)/)).1)
    }

    @Test func `errors are problem documents here and XML elsewhere, and requests are counted by route`()
        async throws
    {
        try await ServedHub.serving { hub in
            let refused = try await hub.call("GET", "/api/v1/hubs", ["TrackingId": "mine"], by: nil)
            #expect(refused.status == 401 && refused["Content-Type"] == "application/problem+json")
            #expect(refused.body.contains(#""title":"Unauthorized","status":401"#) && refused.body.contains(#""trackingId":"mine"}"#))
            #expect(try await hub.call("GET", "/hub/registrations", by: nil)["Content-Type"] == "application/xml; charset=utf-8")
            let forbidden = try await hub.call("GET", "/api/v1/hubs/hub/notifications", by: .listen)
            #expect(forbidden.status == 403 && forbidden.body.contains(#""code":"sas.forbidden""#))
            let tags = try await hub.call("GET", "/api/v1/hubs/hub/tags?top=1", by: .full)
            #expect(tags.body == #"{"items":[]}"# && tags["Cache-Control"] == "no-store")
            let document = try await hub.call("GET", "/openapi.json", by: nil)
            #expect(document.status == 200 && document["Content-Type"] == "application/json")
            let metrics = try await hub.call("GET", "/metrics", by: nil).body
            #expect(metrics.contains(#"route="/api/v1/hubs/{hub}/tags""#) && metrics.contains(#"route="/openapi.json""#))
        }
    }

    @Test func `every operation conforms to the document`() async throws {
        try await ServedHub.serving { hub in
            let id = try await Self.notification(hub)
            try await Self.check(hub, notification: id, Self.dangerous.flatMap { ["--exclude-operation-id", $0] })
            try await Self.check(
                hub, notification: id, ["--phases", "coverage,fuzzing"] + Self.dangerous.flatMap { ["--include-operation-id", $0] })
            #expect(try await hub.call("GET", "/health/live", by: nil).status == 200)
        }
    }
}
