import Delivery
import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// Pushes to a browser, read by independent software: http-ece decrypts them, py-vapid verifies the signature.
@Suite struct WebPushReaderTests {
    @Test func `http-ece decrypts what the hub encrypts, at any allowed length`() async throws {
        let folder = try ScriptFolder()
        let script = BuiltProgram.root.appending(path: "Tests/EndToEnd/Clients/browser_http_ece.py").path
        let names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        let made = try await BuiltProgram.run(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"] + names
                + ["-keyout", "key.pem", "-out", "certificate.pem"], tool: URL(filePath: "/usr/bin/openssl"), in: folder.url)
        try #require(made.status == 0, "\(made.errors)")
        let browser = try Dialogue(
            ["-W", "ignore", script, "certificate.pem", "key.pem"], tool: PythonClientTests.python.path, in: folder.url,
            environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        func next() async throws -> JSON { try JSON(parsing: try await browser.hear("}\n")) }
        let subscription = try await next()
        func field(_ name: String) throws -> String { try #require(subscription[name]?.string) }
        let origin = try field("origin")
        let settings = [
            "PUSHHOST_WEBPUSH_SUBJECT": "mailto:ops@example.com", "PUSHHOST_WEBPUSH_KEY": WebPushSettings.newKey().reveal(),
            "PUSHHOST_WEBPUSH_ORIGINS": origin, "PUSHHOST_WEBPUSH_ROOTS": folder.url.appending(path: "certificate.pem").path,
        ]
        try await ServedHub.serving(settings: settings) { hub in
            let installation: JSON = [
                "installationId": "tab", "platform": "browser",
                "pushChannel": [
                    "endpoint": .string("\(origin)/tab"), "p256dh": .string(try field("p256dh")), "auth": .string(try field("auth")),
                ],
            ]
            let put = try await hub.call(
                "PUT", "/hub/installations/tab?api-version=2020-06", body: String(decoding: installation.serialized(), as: UTF8.self))
            try #require(put.status == 200, "\(put.body)")
            for text in ["{}", #"{"title":"Grüße"}"#, "x", String(repeating: "x", count: 3993)] {
                let sent = try await hub.call(
                    "POST", "/hub/messages/?api-version=2020-06",
                    ["ServiceBusNotification-Format": "browser", "Content-Type": "application/json"], body: text)
                try #require(sent.status == 201, "\(sent.body)")
                let read = try await next()
                #expect(read["path"]?.string == "/tab" && read["text"]?.string == text)
                #expect(read["is_signed"] == true)
            }
        }
        browser.signal(SIGKILL)
        _ = await browser.end(closingInput: false)
    }
}
