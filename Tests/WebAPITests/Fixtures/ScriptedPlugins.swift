import PushModel
import Synchronization

/// A route of a plugin that answers as a test says; by default with the request.
struct ScriptedRoute: PluginRoute {
    typealias Answering = @Sendable (PluginRequest) async throws(PushError) -> PluginResponse

    let plugin: String
    let method: String
    /// The path parts; `*` stands for any part.
    let pattern: [String]
    let version = "1.2.0"
    let authentication: RouteAuthentication
    let bodyLimit: Int
    var secret: @Sendable () -> Secret? = { nil }
    private let answering: Answering

    init(
        plugin: String = "greet", method: String = "GET", pattern: [String] = [], authentication: RouteAuthentication = .open,
        bodyLimit: Int = 1024, _ answering: @escaping Answering = { Self.echo($0) }
    ) {
        (self.plugin, self.method, self.pattern) = (plugin, method, pattern)
        (self.authentication, self.bodyLimit, self.answering) = (authentication, bodyLimit, answering)
    }

    var name: String { "\(plugin) \(method) /\(pattern.joined(separator: "/"))" }

    func webhookSecret() -> Secret? { secret() }
    func answer(_ request: PluginRequest) async throws(PushError) -> PluginResponse { try await answering(request) }

    func fits(_ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0 == "*" || $0 == $1 }
    }

    static func echo(_ request: PluginRequest) -> PluginResponse {
        let json: JSON = [
            "method": .string(request.method), "path": .array(request.path.map { .string($0) }),
            "query": .array(request.query.map { .string("\($0.name)=\($0.value)") }),
            "headers": .object(JSONObject(request.headers.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
            "body": .string(String(decoding: request.body, as: UTF8.self)), "username": request.username.map { .string($0) } ?? .null,
            "delivery": request.deliveryID.map { .string($0) } ?? .null,
        ]
        return PluginResponse(status: 200, headers: [PushHeader("Content-Type", "application/json")], body: json.serialized())
    }
}

/// Plugins with these routes.
final class ScriptedPlugins: PluginRouting {
    private let routes: Mutex<[ScriptedRoute]>
    private let count = Mutex(0)

    init(_ routes: [ScriptedRoute]) { self.routes = Mutex(routes) }

    /// The number of route lookups.
    var lookups: Int { count.withLock { $0 } }

    func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch {
        count.withLock { $0 += 1 }
        let there = routes.withLock { $0.filter { $0.plugin == plugin && $0.fits(path) } }
        guard !there.isEmpty else { return .notFound }
        return there.first { $0.method == method }.map { .found($0) } ?? .otherMethods(there.map(\.method))
    }
}

/// Records events in order.
final class Happenings: Sendable {
    private let kept = Mutex<[String]>([])

    var all: [String] { kept.withLock { $0 } }
    var count: Int { all.count }

    func note(_ text: String) { kept.withLock { $0.append(text) } }
}
