import PushHub
import PushModel
import Support
import Testing

/// A reason for a device not to show a notification, reproduced with a hub, and the sentence shown to people.
struct TraceScenario: Sendable, CustomTestStringConvertible {
    typealias Work = @Sendable (TraceBench) async throws -> (notification: String, device: String)

    let cause: TraceCause
    let sentence: String
    var ttl: Duration?
    var platforms = Set(Platform.delivered)
    let work: Work

    var testDescription: String { "\(cause.rawValue): \(sentence)" }

    init(
        _ cause: TraceCause, _ sentence: String, ttl: Duration? = nil, platforms: Set<Platform> = Set(Platform.delivered),
        _ work: @escaping Work
    ) {
        (self.cause, self.sentence, self.ttl, self.platforms, self.work) = (cause, sentence, ttl, platforms, work)
    }
}

/// A hub for traces.
struct TraceBench: Sendable {
    let hooks = ScriptedHooks()
    let hub: HubBench

    init(ttl: Duration? = nil, platforms: Set<Platform> = Set(Platform.delivered)) throws {
        hub = try HubBench(registrationTTL: ttl, platforms: platforms, hooks: hooks)
    }

    /// Installs the app on an iPhone.
    func install(
        _ id: String = "alice-1", _ handle: DeviceHandle = .phone(1), user: String? = nil, tags: [String] = [],
        templates: [String: InstallationTemplate] = [:]
    ) async throws {
        try await hub.hub.putInstallation(
            Installation(id: id, userID: user, handle: handle, tags: try tags.map { try Tag($0) }, templates: templates))
    }

    func send(_ request: NotificationRequest) async throws -> String {
        let hub = hub.hub
        return try await self.hub.passingTime { try await hub.send(request).id }
    }

    /// Accepts a notification without waiting for its end.
    func accept(_ request: NotificationRequest, at time: Timestamp? = nil) async throws -> String {
        try await hub.hub.accept(request, at: time).outcome.id
    }

    func trace(_ notification: String, _ device: String) async throws -> DeliveryTrace {
        let answer = try await hub.hub.trace(TraceQuestion(notification: notification, device: device))
        return try #require(answer.traces.first)
    }

    func answer(_ verdict: Verdict, _ handle: DeviceHandle = .phone(1)) { hub.connector.script(handle, verdict) }
}

extension Rejection {
    static func refusal(_ reason: String, _ outcome: OutcomeName, _ explanation: String) -> Rejection {
        Rejection(status: 400, reason: reason, explanation: explanation, outcome: outcome)
    }
}
