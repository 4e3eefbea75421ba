import Lua
import PushModel

/// HTTP requests of plugins.
enum OutboundBindings {
    static let http = Binding(
        "push.http", "Sends an HTTP request to a host that the plugin was granted. Responses of any status are returned.",
        takes: .table(
            [
                .required("url", .string, "absolute, http or https"),
                .optional("method", .oneOf(OutboundRequest.methods), "GET by default, POST if there is a body"),
                .optional("headers", .map(.either([.string, .secret])), "values may be results of push.secret"),
                .optional("json", .any, "a body as JSON", mistakenFor: ["data"]),
                .optional("body", .any, "a body as a string"),
                .optional("timeout", .duration, "time limit including redirects: 10 s by default, at most 30 s"),
                .optional("max_bytes", .integer, "maximum size of the response body: 1 MiB by default, at most 8 MiB"),
                .optional("redirects", .integer, "maximum number of redirects: 5 by default, at most 10"),
            ],
            constraint: { keys, name throws(LuaError) in
                guard keys.isSuperset(of: ["json", "body"]) else { return }
                throw .misuse(
                    "http.body", "\(name): \"json\" and \"body\" cannot be combined", hint: "keep one of them",
                    details: ["key": .string("body")])
            }),
        returns: "push.HTTPAnswer", when: .in(.pluginsRunning, capability: .http),
        errors: [
            "capability.denied", "http.denied", "http.body", "http.invalid_header", "http.invalid_url", "http.method",
            "http.busy", "http.private_address", "http.redirects", "http.timeout", "http.tls", "http.too_large", "http.unreachable",
        ],
        example: "local answer = push.http { url = \"https://api.example.com/audit\", json = { id = \"n-0001\" } }",
        body: .async(.waiting) { arguments, run in
            guard let plugin = run.plugin else { throw LuaError.failure("target.unsupported", "only plugins can send HTTP requests") }
            let request = try arguments.outbound()
            return HTTPAnswerRecord(answer: try await plugin.send(request))
        })
}

extension Arguments {
    /// Reads the request. Throws `http.*`.
    fileprivate func outbound() throws -> OutboundRequest {
        var headers: [PushHeader] = []
        for (name, value) in (table("headers")?.fields ?? [:]).sorted(by: { $0.key < $1.key }) {
            switch value {
            case .string(let text): headers.append(PushHeader(name, text))
            case .object(let object):
                guard let secret = object.payload as? Secret else { continue }
                headers.append(PushHeader(name, secret.reveal()))
            default: continue
            }
        }
        var body: [UInt8] = []
        switch (value("json"), value("body")) {
        case (let value?, _):
            do throws(JSONConversionError) {
                body = try value.json(named: "json").serialized()
            } catch {
                throw error.error(in: "push.http")
            }
            if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                headers.append(PushHeader("Content-Type", "application/json"))
            }
        case (nil, .string(let text)?): body = Array(text.utf8)
        case (nil, .bytes(let bytes)?): body = bytes
        case (nil, nil): break
        case (nil, let other?):
            throw LuaError.misuse("http.body", "push.http: \"body\" must be a string, got \(other.phrase)", hint: "json writes tables")
        }
        let hasBody = value("json") != nil || value("body") != nil
        return OutboundRequest(
            method: string("method") ?? (hasBody ? "POST" : "GET"), url: try text("url"), headers: headers, body: body,
            timeout: try duration("timeout") ?? .seconds(10), maximumAnswer: integer("max_bytes") ?? 1 << 20,
            maximumRedirects: integer("redirects") ?? 5)
    }
}

/// `push.HTTPAnswer`.
struct HTTPAnswerRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("status", .integer), ("ok", .boolean), ("headers", [String: String].luaShape), ("body", .bytes), ("json", .value), ("url", .text),
    ]

    let answer: OutboundResponse

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(answer.status)
        writer.write((200..<300).contains(answer.status))
        writer.write(Dictionary(answer.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" })
        writer.write(LuaBytes(answer.body))
        writer.write(LuaValue(body: answer.body))
        writer.write(answer.url)
    }
}

extension TypeDescription {
    static let httpAnswer = TypeDescription(
        "push.HTTPAnswer", "The response to an HTTP request.",
        fields: [
            Field("status", "integer", "the HTTP status"),
            Field("ok", "boolean", "whether the status is one of 200 to 299"),
            Field("headers", "table<string, string>", "by lower-case name"),
            Field("body", "string", "the bytes of the body"),
            Field("json", "any", "the body as JSON; absent if it is not JSON", isOptional: true),
            Field("url", "string", "the final URL after redirects"),
        ])
}
