import NIOHTTP1
import PushCore
import RemoteHub

/// Sends through a server and follows what becomes of it.
struct Sender: Sendable {
    let client: ManagementClient
    let hub: String
    /// Told how far it is.
    let progress: @Sendable (String) -> Void

    private let clock = SystemClock()
    /// Devices that are shown one by one.
    private static let devicesShown = 20
    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(1)

    init(client: ManagementClient, hub: String, progress: @escaping @Sendable (String) -> Void = { _ in }) {
        self.client = client
        self.hub = hub
        self.progress = progress
    }

    /// What became of a notification.
    struct Report: Sendable {
        /// As the server tells of it.
        var notification: JSON
        /// Those that did not get it, the first of them.
        var failed: [JSON] = []

        var state: String { notification["state"]?.string ?? "" }
        /// All that is left of it waits for moments that a plugin has chosen.
        var isHeld: Bool { notification["deferredUntil"] != nil }
        var isWithoutTarget: Bool { state == NotificationOutcome.State.noTargetFound.rawValue }

        var json: JSON {
            var members = notification.object ?? JSONObject()
            members["failedDevices"] = .array(failed)
            return .object(members)
        }
    }

    /// The member of an error's details with the ids of what goes on all the same.
    static let accepted = "accepted"

    /// Answers when every device has its verdict; of what is to be sent later, at once. All are accepted before one is waited for.
    ///
    /// Throws `cancelled` where the task is; whatever it throws names what was accepted before.
    func send(_ requests: [SendRequest]) async throws(PushError) -> [Report] {
        var ids: [String] = []
        do throws(PushError) {
            for request in requests { ids.append(try await accept(request)) }
            var reports: [Report] = []
            for id in ids { reports.append(try await follow(id)) }
            return reports
        } catch {
            throw Self.telling(Task.isCancelled ? PushError("cancelled", "the wait was interrupted") : error, ids)
        }
    }

    private static func telling(_ error: PushError, _ ids: [String]) -> PushError {
        var error = error
        guard !ids.isEmpty else {
            // No answer does not say that nothing was done.
            if error.status == nil, error.details[ManagementClient.isUnsent] != true {
                error.hint = "\(error.hint.map { "\($0); " } ?? "")it may have been accepted all the same: pushhost notification list tells"
            }
            return error
        }
        let hint = ids.map { "pushhost notification show \($0)" }.joined(separator: ", ")
        error.message += "; accepted as \(ids.joined(separator: ", "))"
        error.hint = "\(error.hint.map { "\($0); " } ?? "")it goes on: \(hint) tells more"
        error.details[accepted] = .array(ids.map(JSON.string))
        return error
    }

    /// The id. Where the connection breaks before the answer it is asked once more, with the same key: it is sent once.
    private func accept(_ request: SendRequest) async throws(PushError) -> String {
        var headers = request.headers
        // Test sends take no key.
        if !request.isTest { headers.add(name: "Idempotency-Key", value: SystemRandom().uuid()) }
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await client.exchange(.POST, request.path(hub), request.query, headers, request.body)
        } catch  where error.details[ManagementClient.isBroken] == true && !request.isTest && !Task.isCancelled {
            do throws(PushError) {
                answer = try await client.exchange(.POST, request.path(hub), request.query, headers, request.body)
            } catch {
                // The first one may have come all the same.
                var error = error
                error.details[ManagementClient.isUnsent] = nil
                throw error
            }
        }
        let location = answer.headers.first(name: "Location") ?? ""
        let id = location.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
        guard !id.isEmpty else {
            throw PushError(
                "control.answer", "the answer to the send has no Location: this is no PushHost, or another version",
                details: [ManagementClient.fromServer: true])
        }
        return id
    }

    /// The same of a send through the JSON interface: one request for all platforms, and one id.
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
                    "control.answer", "the answer to the send has no notificationId: this is no PushHost, or another version",
                    details: [ManagementClient.fromServer: true])
            }
            ids.append(id)
            return try await follow(id)
        } catch {
            // A refusal is an answer; what else happened does not say that nothing was done.
            if ids.isEmpty, error.status != nil { throw error }
            throw Self.telling(Task.isCancelled ? PushError("cancelled", "the wait was interrupted") : error, ids)
        }
    }

    /// What has become of a notification so far.
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
            // Devices that a plugin lets wait may do so for days.
            guard waiting.contains(report.state), !report.isHeld else {
                report.failed = try await failed(path, OutcomeCounts(notification))
                return report
            }
            progress("\(id)  \(report.state) \(OutcomeCounts(notification).sentence)")
            do {
                try await clock.sleep(until: clock.now + pause)
            } catch {
                throw PushError("control.unreachable", "the wait was cancelled", details: [ManagementClient.fromServer: true])
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func failed(_ path: String, _ counts: OutcomeCounts) async throws(PushError) -> [JSON] {
        var failed: [JSON] = []
        for outcome in OutcomeName.allCases
        where outcome != .success && counts.has(outcome) && failed.count < Self.devicesShown {
            let room = Self.devicesShown - failed.count
            failed += try await client.items("\(path)/devices", [("outcome", outcome.rawValue)], first: room).items.prefix(room)
        }
        return failed
    }

    /// What each group of devices would get; nothing is sent.
    func preview(_ request: SendRequest) async throws(PushError) -> JSON {
        try await client.post(ManagementClient.path("hubs", hub, "render"), body: request.preview)
    }
}

/// How many devices of each platform ended how.
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
    /// Left out by a hook, or because another registration has the same handle: that is no failure.
    var skipped: Int { count { $0 == OutcomeName.skipped.rawValue } }
    var failed: Int { all - sent - skipped }

    func has(_ outcome: OutcomeName) -> Bool { count { $0 == outcome.rawValue } > 0 }

    var sentence: String { "\(sent) of \(all) sent" }

    private func count(_ isMeant: (String) -> Bool) -> Int {
        platforms.reduce(0) { sum, entry in sum + entry.counts.reduce(0) { $0 + (isMeant($1.outcome) ? $1.count : 0) } }
    }
}
