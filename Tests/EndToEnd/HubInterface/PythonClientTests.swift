import Foundation
import HostSupport
import Testing

/// Azure clients from PyPI against the served hub.
@Suite struct PythonClientTests {
    static let python = BuiltProgram.root.appending(path: ".build/python/bin/python")

    /// Runs a script of `Clients`, or one at a given path, with these arguments.
    static func run(_ script: String, _ arguments: [String], trusting authority: String) async throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path), "there is no \(python.path); run make test, which makes it")
        let path = script.hasPrefix("/") ? script : BuiltProgram.root.appending(path: "Tests/EndToEnd/Clients/\(script)").path
        let run = try await BuiltProgram.run(
            ["-W", "ignore", path] + arguments, tool: python,
            environment: ["SSL_CERT_FILE": authority, "REQUESTS_CA_BUNDLE": authority, "PYTHONDONTWRITEBYTECODE": "1"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasSuffix("done\n"))
    }

    @Test func `every method of azure-notification-hub-unofficial works over TLS`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            try await Self.run(
                "unofficial.py", [hub.connectionString(), "hub", hub.connectionString(.listen)], trusting: hub.authority)
        }
    }

    @Test func `every method of azure-notification-hub-unofficial works over plain HTTP`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            try await Self.run(
                "unofficial.py", [hub.plainConnectionString(), "hub", hub.plainConnectionString(.listen)], trusting: hub.authority)
        }
    }

    @Test func `every method of notificationhubs-rest-python works over TLS`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            try await Self.run("rest.py", [hub.connectionString(), "hub", hub.connectionString(.listen)], trusting: hub.authority)
        }
    }

    @Test func `an app written from the tutorials' pages alone completes all their flows`() async throws {
        try await ServedHub.serving(isSimulated: true, settings: ["PUSHHOST_BACKEND_TUTORIAL_MODE": "on"]) { hub in
            let simulators = "http://127.0.0.1:\(try #require(hub.simulatorPort))"
            try await Self.run(
                "tutorial_app.py",
                ["http://localhost:\(hub.port)", hub.plainConnectionString(), "hub", simulators], trusting: hub.authority)
        }
    }

    @Test func `the tutorials' app works over TLS`() async throws {
        try await ServedHub.serving(isSimulated: true, settings: ["PUSHHOST_BACKEND_TUTORIAL_MODE": "on"]) { hub in
            let simulators = "http://127.0.0.1:\(try #require(hub.simulatorPort))"
            try await Self.run(
                "tutorial_app.py",
                [
                    "https://localhost:\(hub.tlsPort)", hub.connectionString().replacing("sb://", with: "https://"), "hub", simulators,
                ], trusting: hub.authority)
        }
    }
}
