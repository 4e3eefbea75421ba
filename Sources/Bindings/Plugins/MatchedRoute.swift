import Lua
import PushModel
import Synchronization

/// A route of one version of a plugin, with the values of its path parameters.
struct MatchedRoute: PluginRoute {
    let host: PluginHost
    let live: LivePlugin
    let instance: PluginInstance
    let route: PluginManifest.Route
    let values: [String: String]

    var name: String { "\(instance.name) \(route.method) \(route.path)" }
    var version: String { instance.version }
    var authentication: RouteAuthentication { route.authentication }
    var bodyLimit: Int { route.bodyLimit }

    func webhookSecret() -> Secret? {
        guard case .webhook(let name, _) = route.authentication, let script = try? instance.source.script else { return nil }
        guard instance.context.grants.allows(.secret(name: name)) else {
            let denial = instance.context.denial(of: .secret(name: name), for: "the webhook \(route.path)")
            host.record(live, .error, "\(denial.message) (\(denial.code))\(denial.hint.map { "; \($0)" } ?? "")")
            return nil
        }
        return (try? host.services.world.secrets.secret(named: name, for: script)).flatMap { $0 }
    }

    /// Maximum number of concurrent requests per plugin.
    private static let maximumRoutes = 64

    func answer(_ request: PluginRequest) async throws(PushError) -> PluginResponse {
        // The limit keeps route requests from delaying the plugin's hooks.
        guard live.slot.routes.wrappingAdd(1, ordering: .relaxed).oldValue < Self.maximumRoutes else {
            live.slot.routes.wrappingSubtract(1, ordering: .relaxed)
            throw PushError(
                "route.busy", "the plugin \(instance.name) has \(Self.maximumRoutes) requests in progress", hint: "try again later",
                status: 503, isRetryable: true)
        }
        defer { live.slot.routes.wrappingSubtract(1, ordering: .relaxed) }
        let routed = RoutedRequest(request: request, parameters: try route.values(of: values, request.query))
        do throws(LuaError) {
            let (answer, run) = try await host.call(live, instance, route.work, .route, hub: nil, origin: [], [HookObjects.object(routed)])
            do throws(LuaError) {
                return try PluginResponse(answer, run: run)
            } catch {
                // The call itself succeeded, so it has released nothing.
                instance.releaseAnswer()
                throw error.found(inAnswerOf: route.work, run)
            }
        } catch {
            if error.kind != .cancelled || !Task.isCancelled { host.failed(live, .route, error) }
            throw PushError(
                "route.failed", "the plugin \(instance.name) failed to process the request", hint: "the log has the error",
                status: 500, details: live.details.merging(["run": .string(error.annotations["run"] ?? "")]) { own, _ in own })
        }
    }
}

// MARK: - Parameters

extension PluginManifest.Route {
    /// Path and query parameters. Undeclared path parameters are texts; undeclared query parameters are errors.
    fileprivate func values(of path: [String: String], _ query: [(name: String, value: String)]) throws(PushError) -> LuaValue {
        var given = JSONObject()
        var undeclared: [String: LuaValue] = [:]
        for (name, text) in path {
            if let field = parameters.fields.first(where: { $0.name == name }) {
                given[name] = field.type.json(of: text)
            } else {
                undeclared[name] = .string(text)
            }
        }
        for (name, text) in query {
            guard path[name] == nil, let field = parameters.fields.first(where: { $0.name == name }) else {
                let names = parameters.fields.map(\.name).filter { path[$0] == nil }
                throw Self.refusal(
                    name, "is not a parameter of this route\(nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? "")",
                    hint: names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))")
            }
            guard given[name] == nil else { throw Self.refusal(name, "is given twice", hint: "use one of them") }
            given[name] = field.type.json(of: text)
        }
        do throws(ConfigSchema.InvalidValue) {
            guard case .table(var table) = try parameters.values(of: .object(given), at: "params", secrets: { _ in nil }) else {
                return .nil
            }
            table.fields.merge(undeclared) { own, _ in own }
            return .table(table)
        } catch {
            throw Self.refusal(String(error.path.dropFirst("params.".count)), error.reason, hint: error.hint)
        }
    }

    private static func refusal(_ name: String, _ what: String, hint: String?) -> PushError {
        PushError(
            "request.parameter", "the parameter \"\(name)\" \(what)", hint: hint, status: 400, details: ["parameter": .string(name)])
    }
}

extension ConfigSchema.FieldType {
    /// Converts a text to the type. An unconvertible text is returned unchanged and reported by the later check.
    fileprivate func json(of text: String) -> JSON {
        switch self {
        case .integer: Int64(text).map { .integer($0) } ?? .string(text)
        case .number: Double(text).flatMap { $0.isFinite ? .number($0) : nil } ?? .string(text)
        case .boolean: text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
        case .string, .duration, .timeOfDay, .timeZone, .tag, .secret, .list, .map, .table: .string(text)
        }
    }
}

// MARK: - Answers

extension PluginResponse {
    /// Maximum bytes of a response body.
    private static let largest = 8 << 20
    /// Headers that only the server sets.
    private static let reserved: Set<String> = [
        "connection", "content-length", "content-type", "date", "keep-alive", "server", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Reads the return value of a route's function. Throws `args.*` and `route.answer`.
    init(_ values: [LuaValue], run: FlowRun) throws(LuaError) {
        guard let answer = try HookAnswers.arguments(values, HookAnswers.route, run: run) else {
            self.init(status: 204)
            return
        }
        let status = answer.integer("status") ?? 200
        guard (200...599).contains(status) else { throw Self.mismatch("the status \(status) is not between 200 and 599") }
        var headers: [PushHeader] = []
        for (name, value) in (answer.table("headers")?.texts ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0.isPropertyCharacter || $0 == UInt8(ascii: "-") }),
                !Self.reserved.contains(name.lowercased())
            else { throw Self.mismatch("the header \"\(name)\" cannot be set by plugins") }
            guard value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
                throw Self.mismatch("the header \"\(name)\" has characters that are not allowed in headers")
            }
            headers.append(PushHeader(name, value))
        }
        var body: [UInt8] = []
        switch (answer.value("json"), answer.value("body")) {
        case (_?, _?): throw Self.mismatch("there are both \"json\" and \"body\"")
        case (let value?, nil):
            do throws(JSONConversionError) {
                body = try value.json(named: "json").serialized()
            } catch {
                throw Self.mismatch("\(error.message): \(error.hint)")
            }
            headers.append(PushHeader("Content-Type", "application/json"))
        case (nil, .string(let text)?):
            body = Array(text.utf8)
            headers.append(PushHeader("Content-Type", answer.string("type") ?? "text/plain; charset=utf-8"))
        case (nil, .bytes(let bytes)?):
            body = bytes
            headers.append(PushHeader("Content-Type", answer.string("type") ?? "application/octet-stream"))
        case (nil, nil): break
        case (nil, let other?): throw Self.mismatch("\"body\" must be a string, got \(other.phrase)")
        }
        guard body.count <= Self.largest else { throw Self.mismatch("the body has \(body.count) bytes, more than \(Self.largest)") }
        if [204, 304].contains(status), !body.isEmpty { throw Self.mismatch("a response with the status \(status) cannot have a body") }
        if let type = headers.last, type.name == "Content-Type", !type.value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            throw Self.mismatch("\"type\" has characters that are not allowed in headers")
        }
        self.init(status: status, headers: headers, body: body)
    }

    private static func mismatch(_ what: String) -> LuaError {
        .misuse("route.answer", "the route returned an invalid response: \(what)", hint: "write return { json = { … } }")
    }
}
