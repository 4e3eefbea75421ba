import HTTPTypes
import PushModel

/// The server's own paths: description, liveness, readiness and metrics. They reveal nothing about devices or keys and need no token.
package struct SystemRoutes: Sendable {
    private let isReady: @Sendable () async -> String?
    private let metrics: MetricsText
    private let about: JSON

    static let metricsPath = "/metrics"
    static let paths = ["/health/live", "/health/ready", metricsPath, "/api/v1/about"]

    /// - Parameters:
    ///   - isReady: Returns why the server is not ready; nil if it is.
    ///   - metrics: Returns all metrics in Prometheus format. Called at most once a second.
    ///   - about: The server's public description.
    package init(
        isReady: @escaping @Sendable () async -> String?, metrics: @escaping @Sendable () async -> String,
        about: JSON = .object(JSONObject())
    ) {
        self.isReady = isReady
        self.metrics = MetricsText(metrics)
        self.about = about
    }

    /// Nil if the path is not one of these.
    func answer(_ request: WebRequest) async throws(PushError) -> WebAnswer? {
        guard Self.paths.contains(request.path) else { return nil }
        guard request.method == .get else {
            throw PushError(
                "request.method", "the method \(request.method.rawValue) is not allowed here", hint: "use GET", status: 405,
                details: ["allow": "GET, HEAD"])
        }
        switch request.path {
        case "/health/live": return text("alive\n")
        case "/api/v1/about": return WebAnswer(.ok, "application/json", about.serialized())
        case "/health/ready":
            guard let why = await isReady() else { return text("ready\n") }
            return WebAnswer(.serviceUnavailable, "text/plain; charset=utf-8", Array("\(why)\n".utf8))
        default:
            return WebAnswer(.ok, "text/plain; version=0.0.4; charset=utf-8", shared: await metrics.text(now: request.now))
        }
    }

    /// Size of the latest metrics in bytes.
    var metricsSize: Int { metrics.size }

    private func text(_ text: String) -> WebAnswer { WebAnswer(.ok, "text/plain; charset=utf-8", Array(text.utf8)) }
}
