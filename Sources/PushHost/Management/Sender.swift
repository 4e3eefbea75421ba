import NIOHTTP1
import PushModel
import PushRuntime
import RemoteHub

/// Sends notifications through a server and waits for their results.
struct Sender: Sendable {
    let client: ManagementClient
    let hub: String
    /// Receives a line of progress after each poll.
    let progress: @Sendable (String) -> Void

    private let clock = SystemClock()
    /// Maximum number of failed devices in a report.
    private static let devicesShown = 20
    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(1)

    init(client: ManagementClient, hub: String, progress: @escaping @Sendable (String) -> Void = { _ in }) {
        self.client = client
        self.hub = hub
        self.progress = progress
    }

    /// The state of a notification.
    struct Report: Sendable {
        /// The notification as the server returns it.
        var notification: JSON
        /// The first devices that did not receive it.
        var failed: [JSON] = []
        /// The APNs broadcast channel that it was sent to instead of devices.
        var channel: String?

        var state: String { notification["state"]?.string ?? "" }
        /// Whether the remaining devices were deferred by a plugin.
        var isHeld: Bool { notification["deferredUntil"] != nil }
        var isWithoutTarget: Bool { state == NotificationOutcome.State.noTargetFound.rawValue }

        var json: JSON {
            var members = notification.object ?? JSONObject()
            members["failedDevices"] = .array(failed)
            return .object(members)
        }
    }

    /// Key in an error's details: the ids of accepted notifications, which are sent despite the error.
    static let accepted = "accepted"

    /// Sends the requests. Returns when every device has a final result, or at once for scheduled notifications. All requests are accepted
    /// before the first result is awaited.
    ///
    /// Throws `cancelled` if the task is cancelled. Every error names the notifications that were accepted before.
    func send(_ requests: [SendRequest]) async throws(PushError) -> [Report] {
        var ids: [String] = []
        do throws(PushError) {
            for request in requests { ids.append(try await accept(request)) }
            var reports: [Report] = []
            for id in ids { reports.append(try await follow(id)) }
            return reports
        } catch {
            throw Self.telling(Task.isCancelled ? PushError("cancelled", "stopped waiting for results") : error, ids)
        }
    }

    private static func telling(_ error: PushError, _ ids: [String]) -> PushError {
        var error = error
        guard !ids.isEmpty else {
            // Without an answer, the server may have accepted the request.
            if error.status == nil, error.details[ManagementClient.isUnsent] != true {
                error.hint = "\(error.hint.map { "\($0); " } ?? "")it may have been accepted: check with pushhost notification list"
            }
            return error
        }
        let hint = ids.map { "pushhost notification show \($0)" }.joined(separator: ", ")
        error.message += "; accepted as \(ids.joined(separator: ", "))"
        error.hint = "\(error.hint.map { "\($0); " } ?? "")sending continues: see \(hint)"
        error.details[accepted] = .array(ids.map(JSON.string))
        return error
    }

    /// Posts a request and returns the notification's id. If the connection breaks, posts once more with the same idempotency key, so that
    /// it is sent only once.
    private func accept(_ request: SendRequest) async throws(PushError) -> String {
        var headers = request.headers
        // Test sends do not support idempotency keys.
        if !request.isTest { headers.add(name: "Idempotency-Key", value: SystemRandom().uuid()) }
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await client.exchange(.POST, request.path(hub), request.query, headers, request.body)
        } catch  where error.details[ManagementClient.isBroken] == true && !request.isTest && !Task.isCancelled {
            do throws(PushError) {
                answer = try await client.exchange(.POST, request.path(hub), request.query, headers, request.body)
            } catch {
                // The server may have received the first attempt.
                var error = error
                error.details[ManagementClient.isUnsent] = nil
                throw error
            }
        }
        let location = answer.headers.first(name: "Location") ?? ""
        let id = location.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
        guard !id.isEmpty else {
            throw PushError(
                "control.answer", "the answer to the send has no Location: the server is not PushHost, or has another version",
                details: [ManagementClient.fromServer: true])
        }
        return id
    }

    /// Sends through the JSON API: one request and one id for all platforms. Otherwise like `send(_:)` for requests.
    func send(_ body: JSON) async throws(PushError) -> Report {
        var ids: [String] = []
        do throws(PushError) {
            let path = ManagementClient.path("hubs", hub, "notifications")
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Idempotency-Key": SystemRandom().uuid()]
            let answer: RemoteAnswer
            do throws(PushError) {
                answer = try await client.exchange(.POST, path, [], headers, body.serialized())
            } catch  where error.details[ManagementClient.isBroken] == true && !Task.isCancelled {
                answer = try await client.exchange(.POST, path, [], headers, body.serialized())
            }
            guard let id = (try? JSON(parsing: answer.body))?["notificationId"]?.string else {
                throw PushError(
                    "control.answer", "the answer to the send has no notificationId: the server is not PushHost, or has another version",
                    details: [ManagementClient.fromServer: true])
            }
            ids.append(id)
            return try await follow(id)
        } catch {
            // A server's error means that nothing was accepted. After any other error, something may have been.
            if ids.isEmpty, error.status != nil { throw error }
            throw Self.telling(Task.isCancelled ? PushError("cancelled", "stopped waiting for results") : error, ids)
        }
    }

    /// The current state of a notification.
    func report(_ id: String) async throws(PushError) -> Report {
        let path = path(id)
        let notification = try await client.get(path)
        return Report(notification: notification, failed: try await failed(path, OutcomeCounts(notification)))
    }

    private func path(_ id: String) -> String { ManagementClient.path("hubs", hub, "notifications", id) }

    private func follow(_ id: String) async throws(PushError) -> Report {
        let path = path(id)
        let waiting = [NotificationOutcome.State.enqueued, .processing].map(\.rawValue)
        var pause = Self.shortestPause
        while true {
            let notification = try await client.get(path)
            var report = Report(notification: notification)
            // Does not wait for deferred devices, which may take days.
            guard waiting.contains(report.state), !report.isHeld else {
                report.failed = try await failed(path, OutcomeCounts(notification))
                return report
            }
            progress("\(id)  \(report.state) \(OutcomeCounts(notification).sentence)")
            do {
                try await clock.sleep(until: clock.now + pause)
            } catch {
                throw PushError("control.unreachable", "stopped waiting for results", details: [ManagementClient.fromServer: true])
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func failed(_ path: String, _ counts: OutcomeCounts) async throws(PushError) -> [JSON] {
        var failed: [JSON] = []
        for outcome in OutcomeName.allCases
        where outcome != .success && counts.has(outcome) && failed.count < Self.devicesShown {
            let remaining = Self.devicesShown - failed.count
            failed += try await client.items("\(path)/devices", [("outcome", outcome.rawValue)], first: remaining).items.prefix(remaining)
        }
        return failed
    }

    /// What each group of devices would receive. Sends nothing.
    func preview(_ request: SendRequest) async throws(PushError) -> JSON {
        try await client.post(ManagementClient.path("hubs", hub, "render"), body: request.preview)
    }
}

/// Number of devices by platform and outcome.
struct OutcomeCounts {
    /// In the order of the server's answer.
    let platforms: [(platform: String, counts: [(outcome: String, count: Int)])]

    init(_ notification: JSON) {
        platforms = (notification["outcomes"]?.object?.members ?? []).map { platform, outcomes in
            (platform, (outcomes.object?.members ?? []).map { ($0.key, $0.value.int ?? 0) })
        }
    }

    var sent: Int { count { $0 == OutcomeName.success.rawValue } }
    var all: Int { count { _ in true } }
    /// Devices that a hook skipped, or whose token another registration has. Not counted as failed.
    var skipped: Int { count { $0 == OutcomeName.skipped.rawValue } }
    var failed: Int { all - sent - skipped }

    func has(_ outcome: OutcomeName) -> Bool { count { $0 == outcome.rawValue } > 0 }

    var sentence: String { "\(sent) of \(all) sent" }

    private func count(_ predicate: (String) -> Bool) -> Int {
        platforms.reduce(0) { sum, entry in sum + entry.counts.reduce(0) { $0 + (predicate($1.outcome) ? $1.count : 0) } }
    }
}
