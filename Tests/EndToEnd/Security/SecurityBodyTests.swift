import PushModel
import Testing

/// Malicious bodies. Each is rejected quickly, and the server continues.
@Suite struct SecurityBodyTests {
    private static let secret = ServedHub.unspeakable

    private static func entry(_ inner: String, before: String = "") -> String {
        #"<?xml version="1.0"?>\#(before)<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">"#
            + "\(inner)</content></entry>"
    }

    private static func registration(_ members: String, attributes: String = "") -> String {
        #"<AppleRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"\#(attributes)>"#
            + members + "</AppleRegistrationDescription>"
    }

    private static let documents: [String: String] = {
        let doubling = (1...60).map { #"<!ENTITY e\#($0) "&e\#($0 - 1);&e\#($0 - 1);">"# }.joined()
        let attribute = #" x="\#(String(repeating: "a", count: 250_000))""#
        return [
            "entities that double": entry(
                registration("<Tags>&e60;</Tags>"), before: "<!DOCTYPE x [<!ENTITY e0 \"\(secret)\">\(doubling)]>"),
            "one large entity, often": entry(
                registration("<Tags>" + String(repeating: "&e;", count: 20_000) + "</Tags>"),
                before: #"<!DOCTYPE x [<!ENTITY e "\#(String(repeating: "x", count: 50_000))">]>"#),
            "an entity of a file": entry(
                registration("<Tags>&e;</Tags>"), before: #"<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>"#),
            "an entity of the network": entry(
                registration("<Tags>&e;</Tags>"), before: #"<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:1/">]>"#),
            "a parameter entity": entry(
                registration(""), before: #"<!DOCTYPE x [<!ENTITY % e SYSTEM "http://127.0.0.1:1/"> %e;]>"#),
            "depth": entry(String(repeating: "<a>", count: 20_000) + String(repeating: "</a>", count: 20_000)),
            "depth without an end": String(repeating: "<a>", count: 60_000),
            "elements": entry(registration(String(repeating: "<Tags/>", count: 20_000))),
            "attributes": entry(registration("", attributes: (0..<15_000).map { " a\($0)=''" }.joined())),
            "a large attribute": entry(registration("", attributes: attribute)),
            "a large name": "<\(String(repeating: "a", count: 200_000))/>",
            "namespaces": entry(
                registration("", attributes: (0..<8_000).map { " xmlns:a\($0)='u\($0)'" }.joined())),
            "no text at all": "\u{0}\u{1}\u{2}", "half": "<entry><content>", "UTF-16 that is none": "\u{fe}\u{ff}<entry/>",
        ]
    }()

    private func refuses(_ hub: ServedHub, _ method: String, _ path: String, _ body: String, _ name: String) async throws {
        let answer = try await hub.call(method, path, body: body, by: .root)
        #expect([400, 413].contains(answer.status), "\(method) \(path), \(name): \(answer.status)")
        #expect(answer.body.utf8.count < 4096 && !answer.body.contains("root:"), "\(method) \(path), \(name)")
    }

    @Test func `XML that expands, nests or never ends is rejected on every route that reads XML`() async throws {
        try await ServedHub.serving { hub in
            for (method, path) in [
                ("POST", "/hub/registrations"), ("PUT", "/hub/registrations/1-2-3"), ("POST", "/hub/jobs"), ("PUT", "/new"),
            ] {
                for (name, document) in Self.documents { try await refuses(hub, method, path, document, name) }
            }
            #expect(try await hub.call("GET", "/hub/registrations").status == 200)
            #expect(try await hub.call("GET", "/hub/registrations").body.contains("<entry") == false)
        }
    }

    @Test func `deeply nested, duplicate-key or invalid JSON is rejected on every route that reads JSON`() async throws {
        try await ServedHub.serving { hub in
            let documents = [
                "arrays": String(repeating: "[", count: 60_000),
                "closed arrays": String(repeating: "[", count: 30_000)
                    + String(repeating: "]", count: 30_000),
                "objects": String(repeating: #"{"a":"#, count: 10_000), "a number": String(repeating: "9", count: 60_000),
                "half a text": #"{"a":"\#(Self.secret)"#, "lone surrogates": #"{"installationId":"\ud800"}"#, "nothing": "",
                "NUL": "{\"a\":\"\u{0}\"}", "not JSON": "\(Self.secret)",
            ]
            for (name, document) in documents {
                try await refuses(hub, "PUT", "/hub/installations/i", document, name)
                try await refuses(hub, "PATCH", "/hub/installations/i", document, name)
                let headers: KeyValuePairs = ["ServiceBusNotification-Format": "template", "Content-Type": "application/json"]
                let sent = try await hub.call("POST", "/hub/messages", headers, body: document)
                #expect(sent.status == 400, "\(name): \(sent.status)")
            }
            #expect(try await hub.call("GET", "/hub/installations/i").status == 404)
        }
    }

    @Test func `a batch with many or unterminated parts is rejected`() async throws {
        try await ServedHub.serving { hub in
            let headers: KeyValuePairs = [
                "ServiceBusNotification-Format": "apple", "Content-Type": #"multipart/mixed; boundary="b""#,
            ]
            for (name, body) in [
                ("parts", String(repeating: "--b\r\n\r\n\r\n", count: 100_000)),
                ("no end", "--b\r\n" + String(repeating: "a", count: 500_000)),
                (
                    "devices",
                    "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--b\r\n"
                        + "Content-Type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n["
                        + (0..<2000).map { "\"\(String(repeating: "ab", count: 30))\(1000 + $0)\"" }.joined(separator: ",") + "]\r\n--b--"
                ), ("nothing", ""),
            ] {
                let answer = try await hub.call("POST", "/hub/messages/$batch?direct", headers, body: body)
                #expect([400, 413].contains(answer.status), "\(name): \(answer.status)")
            }
        }
    }

    @Test func `texts that are expensive to parse are rejected or answered, and never stop the server`() async throws {
        try await ServedHub.serving { hub in
            let many = (0..<2000).map { "t\($0)" }
            for tags in [many.joined(separator: "||"), String(repeating: "(", count: 20_000), String(repeating: "!", count: 20_000) + "a"] {
                let sent = try await hub.call(
                    "POST", "/hub/messages", ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": tags], body: "{}")
                #expect([400, 431].contains(sent.status), "\(tags.prefix(20)): \(sent.status)")
            }
            let filter = String(repeating: "a%20and%20", count: 3000)
            #expect(try await hub.call("GET", "/hub/registrations?$filter=\(filter)").status == 400)
            let query = (0..<3000).map { "a\($0)=b" }.joined(separator: "&")
            #expect(try await hub.call("GET", "/hub/registrations?\(query)").status == 200)
        }
    }
}
