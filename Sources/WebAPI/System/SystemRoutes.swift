import HTTPTypes
package import PushModel

/// The server's own paths: description, liveness, readiness and metrics. They reveal nothing about devices or keys and need no token.
package struct SystemRoutes: Sendable {
    /// A path of the server itself.
    enum Page: String, CaseIterable {
        case live = "/health/live"
        case ready = "/health/ready"
        case metrics = "/metrics"
        case about = "/api/v1/about"
    }

    private let isReady: @Sendable () async -> String?
    private let metrics: MetricsText
    private let about: JSON

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

    func answer(_ request: WebRequest, at page: Page) async throws(PushError) -> WebAnswer {
        guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
        switch page {
        case .live: return text("alive\n")
        case .about: return WebAnswer(.ok, "application/json", about.serialized())
        case .ready:
            guard let why = await isReady() else { return text("ready\n") }
            return WebAnswer(.serviceUnavailable, "text/plain; charset=utf-8", Array("\(why)\n".utf8))
        case .metrics:
            return WebAnswer(.ok, "text/plain; version=0.0.4; charset=utf-8", shared: await metrics.text(now: request.now))
        }
    }

    /// Size of the latest metrics in bytes.
    var metricsSize: Int { metrics.size }

    private func text(_ text: String) -> WebAnswer { WebAnswer(.ok, "text/plain; charset=utf-8", Array(text.utf8)) }
}
