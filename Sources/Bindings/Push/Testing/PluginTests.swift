import Lua
package import PushModel
import Synchronization

/// Testing of plugins in specs.
enum PluginTestBindings {
    static let testPlugin = Binding(
        "push.test.plugin",
        "Activates the plugin of the spec's folder in the test. Its hooks act on the embedded hub, its timers use the virtual clock. "
            + "HTTP requests are answered from a table.",
        takes: .table([
            .optional("config", .table, "its configuration", mistakenFor: ["settings"]),
            .optional("grants", .list(.string), "granted capabilities; all that it needs by default"),
            .optional("secrets", .map(.string), "the secrets available to it"),
            .optional("http", .map(.table), "answers by URL: { [\"https://api.example.com/\"] = { status = 200, json = {} } }"),
        ]),
        returns: "push.Plugin", errors: ["plugin.config", "plugin.manifest", "plugin.no_main", "plugin.not_found", "target.unsupported"],
        example: "local greet = push.test.plugin { config = { text = \"Hello\" } }",
        body: .async { arguments, run in
            guard let host = run.world.plugins else {
                throw LuaError.failure(
                    "target.unsupported", "the target \(run.world.target.name) does not support plugins under test",
                    hint: "push.test.plugin is for specs, which run against the embedded target")
            }
            let source = try run.runner.scripts.plugin(of: run.script)
            let answers = try CannedAnswers(arguments.table("http"))
            let probe = PluginObject(name: source.name, host: host, answers: answers)
            let grants: [Capability]? = try arguments.strings("grants")?.map { text in
                do throws(Capability.Unreadable) { return try Capability(parsing: text) } catch {
                    throw LuaError.misuse(
                        "args.wrong_type", "push.test.plugin: \(error.reason)",
                        hint: "capabilities are \(Capability.forms.joined(separator: ", "))")
                }
            }
            let values: JSON?
            do throws(JSONConversionError) {
                values = try arguments.table("config").map { table throws(JSONConversionError) in
                    try LuaValue.table(table).json(named: "config")
                }
            } catch {
                throw error.error(in: "push.test.plugin")
            }
            try await host.activate(
                source,
                PluginTrial(
                    values: values ?? .null, grants: grants, file: run.script.name, http: answers,
                    secrets: SpecSecrets(values: arguments.table("secrets")?.texts ?? [:]), onMessage: probe.note))
            return LuaObject(type: "plugin", payload: probe)
        })

    static let pluginRequest = Binding(
        "plugin:request", "Sends a request to a route of the plugin, as an authorized caller.",
        takes: .table([
            .required("path", .string, "below /plugins/NAME, with a query"),
            .optional("method", .oneOf(["GET", "POST", "PUT", "PATCH", "DELETE"]), "GET by default, POST if there is a body"),
            .optional("headers", .map(.string), "further headers"), .optional("json", .any, "a body as JSON"),
            .optional("body", .string, "a body as a string"), .optional("user", .string, "the name of the logged-in user"),
        ]),
        returns: "push.HTTPAnswer", errors: ["request.parameter", "route.failed", "route.not_found"],
        example: "push.expect(greet:request(\"/greetings/ana\").status).to.equal(200)",
        body: .async(.waiting) { arguments, run in
            let plugin = try arguments.receiver(as: PluginObject.self)
            let request = try arguments.pluginRequest()
            let url = "/plugins/\(plugin.name)\(try arguments.text("path"))"
            switch plugin.host.route(plugin: plugin.name, method: request.method, path: request.path) {
            case .found(let route):
                let answer = try await route.answer(request)
                return HTTPAnswerRecord(
                    answer: OutboundResponse(status: answer.status, headers: answer.headers, body: answer.body, url: url))
            case .otherMethods(let methods):
                throw LuaError.failure(
                    "route.not_found", "\(url) does not support \(request.method)", hint: "use \(methods.joined(separator: ", "))"
                )
            case .notFound:
                throw LuaError.failure("route.not_found", "the plugin \(plugin.name) has no route for \(request.method) \(url)")
            }
        })

    static let pluginLog = Binding(
        "plugin:log", "Returns log lines and failures of the plugin: \"error before_send failed: …\".",
        returns: "string[]",
        example: "push.expect(#greet:log()).to.equal(0)",
        body: .sync { arguments, _ in try arguments.receiver(as: PluginObject.self).lines })

    static let pluginAsked = Binding(
        "plugin:asked", "Returns the HTTP requests of the plugin, in order.",
        returns: "push.OutboundRequest[]",
        example: "push.expect(greet:asked()[1].method).to.equal \"POST\"",
        body: .sync { arguments, _ in
            try arguments.receiver(as: PluginObject.self).answers.asked.map(OutboundRequestRecord.init)
        })
}

/// A plugin under test, as a handle for specs.
final class PluginObject: Sendable {
    let name: String
    let host: any PluginRouting
    let answers: CannedAnswers
    private let messages = Mutex<[PluginMessage]>([])

    init(name: String, host: any PluginRouting, answers: CannedAnswers) {
        self.name = name
        self.host = host
        self.answers = answers
    }

    static let type = LuaObjectType.handle("plugin", of: PluginObject.self, describe: { "plugin \($0.name)" })

    func note(_ message: PluginMessage) { messages.withLock { $0.append(message) } }

    var lines: [String] { messages.withLock { $0.map { "\($0.level.rawValue) \($0.text)" } } }
}

/// Outbound HTTP that reaches no server.
package struct NoOutboundHTTP: OutboundHTTP {
    package init() {}

    package func send(_ request: OutboundRequest, within reach: OutboundAllowlist) async throws(PushError) -> OutboundResponse {
        throw PushError("http.unreachable", "no servers are reachable", hint: "put the responses into http of push.test.plugin")
    }
}

/// Outbound HTTP with answers from a table in the spec.
final class CannedAnswers: OutboundHTTP {
    private let answers: [String: OutboundResponse]
    private let requests = Mutex<[OutboundRequest]>([])

    var asked: [OutboundRequest] { requests.withLock { $0 } }

    init(_ table: LuaTable?) throws(LuaError) {
        var answers: [String: OutboundResponse] = [:]
        for (url, value) in table?.fields ?? [:] {
            guard case .table(let fields) = value else { continue }
            for key in fields.fields.keys.sorted() where !["status", "json", "body", "headers"].contains(key) {
                throw .unknownName(key, in: "an answer of push.test.plugin", known: ["status", "json", "body", "headers"])
            }
            var answer = OutboundResponse(status: 200, url: url)
            if case .integer(let status)? = fields["status"] { answer.status = Int(status) }
            if case .table(let headers)? = fields["headers"] {
                answer.headers = headers.texts.sorted { $0.key < $1.key }.map { PushHeader($0.key, $0.value) }
            }
            do throws(JSONConversionError) {
                if let json = try fields["json"]?.json(named: "http[\"\(url)\"].json") { answer.body = json.serialized() }
            } catch {
                throw error.error(in: "push.test.plugin")
            }
            if case .string(let text)? = fields["body"] { answer.body = Array(text.utf8) }
            answers[url] = answer
        }
        self.answers = answers
    }

    func send(_ request: OutboundRequest, within reach: OutboundAllowlist) async throws(PushError) -> OutboundResponse {
        try request.check(reach)
        requests.withLock { $0.append(request) }
        guard let answer = answers[request.url] else {
            throw PushError(
                "http.unreachable", "the spec has no response for \(request.url)",
                hint: "add http = { [\"\(request.url)\"] = { status = 200 } } to push.test.plugin")
        }
        return answer
    }
}

extension OutboundRequest {
    /// Applies the checks of the real HTTP client. Throws `http.invalid_url` and `http.denied`.
    fileprivate func check(_ reach: OutboundAllowlist) throws(PushError) {
        guard let match = url.wholeMatch(of: /(https?):\/\/([^\/?#:@]+)(?::([0-9]+))?(?:[\/?#].*)?/), let host = OutboundHost.name(match.2)
        else { throw PushError("http.invalid_url", "invalid URL \(url)", hint: "write https://api.example.com/path") }
        let usual = match.1 == "https" ? 443 : 80
        let port = match.3.flatMap { Int($0) } ?? usual
        guard reach.permit(host: host, port: port, usualPort: usual) == nil else { return }
        throw PushError(
            "http.denied", "\(host):\(port) is not granted", hint: "add it to needs",
            details: ["host": .string(port == usual ? host : "\(host):\(port)")])
    }
}

private struct SpecSecrets: SecretSource {
    let values: [String: String]

    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? { values[name].map { Secret($0) } }
    var names: [String] { values.keys.sorted() }
    func searchedLocations(for name: String) -> String { "add secrets = { \(name) = \"…\" } to push.test.plugin" }
}

/// `push.OutboundRequest`.
private struct OutboundRequestRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("method", .text), ("url", .text), ("headers", [String: String].luaShape), ("body", .bytes), ("json", .value),
    ]

    let request: OutboundRequest

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(request.method)
        writer.write(request.url)
        writer.write(Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" })
        writer.write(LuaBytes(request.body))
        writer.write(LuaValue(body: request.body))
    }
}

extension Arguments {
    fileprivate func pluginRequest() throws -> PluginRequest {
        let (path, query) = try text("path").splitAtQuestionMark
        guard path.hasPrefix("/") else {
            throw LuaError.misuse("args.wrong_type", "plugin:request: \"path\" must begin with a slash", hint: "write \"/greetings\"")
        }
        var body: [UInt8] = []
        do throws(JSONConversionError) {
            if let json = try value("json")?.json(named: "json") { body = json.serialized() }
        } catch {
            throw error.error(in: "plugin:request")
        }
        if let text = string("body") { body = Array(text.utf8) }
        let hasBody = value("json") != nil || value("body") != nil
        let pairs = query.split(separator: "&").map { pair -> (name: String, value: String) in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        return PluginRequest(
            method: string("method") ?? (hasBody ? "POST" : "GET"),
            path: path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init), query: pairs,
            headers: (table("headers")?.texts ?? [:]).reduce(into: [:]) { $0[$1.key.lowercased()] = $1.value }, body: body,
            username: string("user"))
    }
}

extension String {
    fileprivate var splitAtQuestionMark: (String, String) {
        guard let mark = firstIndex(of: "?") else { return (self, "") }
        return (String(self[..<mark]), String(self[index(after: mark)...]))
    }
}

extension TypeDescription {
    static let plugin = TypeDescription("push.Plugin", "A plugin under test.")

    static let outboundRequest = TypeDescription(
        "push.OutboundRequest", "An HTTP request of a plugin.",
        fields: [
            Field("method", "string", "GET, POST, …"),
            Field("url", "string", "the requested URL"),
            Field("headers", "table<string, string>", "by lower-case name"),
            Field("body", "string", "the bytes of the body"),
            Field("json", "any", "the body as JSON; absent if it is not JSON", isOptional: true),
        ])
}
