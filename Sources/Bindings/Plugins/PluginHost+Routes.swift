import Lua
import PushCore
import Synchronization

// The routes of plugins.
extension PluginHost: PluginRouting {
    /// Of a plugin at a time.
    private static let mostRoutes = 64

    package func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch {
        guard let live = live.first(where: { $0.plugin.name == plugin }), let instance = live.plugin.script else { return .notFound }
        // A slash alone is the plugin's own path.
        let parts = path == [""] ? [] : path
        let found = instance.manifest.routes.compactMap { route in route.path.match(parts).map { (route: route, values: $0) } }
        let exact = found.filter { $0.route.method == method }.min { $0.route.path.rank.lexicographicallyPrecedes($1.route.path.rank) }
        guard let exact else { return found.isEmpty ? .notFound : .otherMethods(Set(found.map(\.route.method)).sorted()) }
        return .found(MatchedRoute(host: self, live: live, instance: instance, route: exact.route, values: exact.values))
    }

    fileprivate func answer(_ request: PluginRequest, of matched: MatchedRoute) async throws(PushError) -> PluginAnswer {
        let (live, instance, route) = (matched.live, matched.instance, matched.route)
        // Hooks of the plugin wait behind its routes.
        guard live.slot.routes.wrappingAdd(1, ordering: .relaxed).oldValue < Self.mostRoutes else {
            live.slot.routes.wrappingSubtract(1, ordering: .relaxed)
            throw PushError(
                "route.busy", "the plugin \(instance.name) answers \(Self.mostRoutes) requests already", hint: "try again in a while",
                status: 503, isRetryable: true)
        }
        defer { live.slot.routes.wrappingSubtract(1, ordering: .relaxed) }
        let routed = RoutedRequest(request: request, parameters: try route.values(of: matched.values, request.query))
        do throws(LuaError) {
            let (values, run) = try await call(live, instance, route.work, .route, hub: nil, origin: [], [HookObjects.object(routed)])
            do throws(LuaError) { return try PluginAnswer(values, run: run) } catch { throw error.found(inAnswerOf: route.work, run) }
        } catch {
            if error.kind != .cancelled || !Task.isCancelled { failed(live, .route, error) }
            throw PushError(
                "route.failed", "the plugin \(instance.name) could not answer", hint: "the log tells what is wrong with it",
                status: 500, details: live.details.merging(["run": .string(error.annotations["run"] ?? "")]) { own, _ in own })
        }
    }
}

/// A route of one version of a plugin, and the parts of the path that it names.
private struct MatchedRoute: PluginRoute {
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
            host.tell(live, .error, "\(denial.message) (\(denial.code))\(denial.hint.map { "; \($0)" } ?? "")")
            return nil
        }
        return (try? host.services.world.secrets.secret(named: name, for: script)).flatMap { $0 }
    }

    func answer(_ request: PluginRequest) async throws(PushError) -> PluginAnswer { try await host.answer(request, of: self) }
}

/// What a route's function gets.
struct RoutedRequest: Sendable {
    var request: PluginRequest
    /// Of the path and of the query, checked.
    var parameters: LuaValue

    var path: String { "/" + request.path.joined(separator: "/") }
}

// MARK: - Parameters

extension PluginManifest.Route {
    /// Those of the path, which are texts unless they are declared as something else, and those of the query that are declared.
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
                    name, "is no parameter of this route\(nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? "")",
                    hint: names.isEmpty ? "it takes none" : "it takes \(names.joined(separator: ", "))")
            }
            guard given[name] == nil else { throw Self.refusal(name, "is given twice", hint: "keep one of them") }
            given[name] = field.type.json(of: text)
        }
        do throws(ConfigSchema.Misfit) {
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
    /// What a text of a path or a query stands for; the text itself where it stands for nothing of the type, which is told then.
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

extension PluginAnswer {
    /// Most bytes of an answer.
    private static let largest = 8 << 20
    /// What the server says itself.
    private static let reserved: Set<String> = [
        "connection", "content-length", "content-type", "date", "keep-alive", "server", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// What a route's function returns. Throws `args.*` and `route.answer`.
    init(_ values: [LuaValue], run: FlowRun) throws(LuaError) {
        guard let answer = try HookAnswers.arguments(values, HookAnswers.route, run: run) else {
            self.init(status: 204)
            return
        }
        let status = answer.integer("status") ?? 200
        guard (200...599).contains(status) else { throw Self.misfit("the status \(status) is none from 200 to 599") }
        var headers: [PushHeader] = []
        for (name, value) in (answer.table("headers")?.texts ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0.isPropertyCharacter || $0 == UInt8(ascii: "-") }),
                !Self.reserved.contains(name.lowercased())
            else { throw Self.misfit("the header \"\(name)\" is not a plugin's to set") }
            guard value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
                throw Self.misfit("the header \"\(name)\" has characters that no header can carry")
            }
            headers.append(PushHeader(name, value))
        }
        var body: [UInt8] = []
        switch (answer.value("json"), answer.value("body")) {
        case (_?, _?): throw Self.misfit("there are both \"json\" and \"body\"")
        case (let value?, nil):
            do throws(UnwritableJSON) {
                body = try value.json(named: "json").serialized()
            } catch {
                throw Self.misfit("\(error.message): \(error.hint)")
            }
            headers.append(PushHeader("Content-Type", "application/json"))
        case (nil, .string(let text)?):
            body = Array(text.utf8)
            headers.append(PushHeader("Content-Type", answer.string("type") ?? "text/plain; charset=utf-8"))
        case (nil, .bytes(let bytes)?):
            body = bytes
            headers.append(PushHeader("Content-Type", answer.string("type") ?? "application/octet-stream"))
        case (nil, nil): break
        case (nil, let other?): throw Self.misfit("\"body\" must be a string, got \(other.phrase)")
        }
        guard body.count <= Self.largest else { throw Self.misfit("the body has \(body.count) bytes, more than \(Self.largest)") }
        if [204, 304].contains(status), !body.isEmpty { throw Self.misfit("an answer with the status \(status) has no body") }
        if let type = headers.last, type.name == "Content-Type", !type.value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            throw Self.misfit("\"type\" has characters that no header can carry")
        }
        self.init(status: status, headers: headers, body: body)
    }

    private static func misfit(_ what: String) -> LuaError {
        .misuse("route.answer", "a route answered what cannot be sent: \(what)", hint: "write return { json = { … } }")
    }
}
