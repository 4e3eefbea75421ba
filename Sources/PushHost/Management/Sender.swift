import NIOHTTP1
import PushCore

/// Sends through a server and follows what becomes of it.
struct Sender {
    let client: ManagementClient
    let hub: String
    /// Told how far it is.
    let progress: (String) -> Void

    private let clock = SystemClock()
    /// Devices that are shown one by one.
    private static let devicesShown = 20
    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(1)

    init(client: ManagementClient, hub: String, progress: @escaping (String) -> Void = { _ in }) {
        self.client = client
        self.hub = hub
        self.progress = progress
    }

    /// What became of a notification.
    struct Report {
        /// As the server tells of it.
        var notification: JSON
        /// Those that did not get it, the first of them.
        var failed: [JSON] = []

        var state: String { notification["state"]?.string ?? "" }
        var isWithoutTarget: Bool { state == NotificationOutcome.State.noTargetFound.rawValue }

        var json: JSON {
            var members = notification.object ?? JSONObject()
            members["failedDevices"] = .array(failed)
            return .object(members)
        }
    }

    /// Answers when every device has its verdict; of one that is to be sent later, at once.
    func send(_ request: SendRequest) async throws(PushError) -> Report {
        let answer = try await client.exchange(.POST, request.path(hub), request.query, request.headers, request.body)
        let location = answer.headers.first(name: "Location") ?? ""
        let id = location.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
        guard !id.isEmpty else {
            throw PushError(
                "control.answer", "the answer to the send has no Location: this is no PushHost, or another version",
                details: [ManagementClient.fromServer: true])
        }
        return try await follow(id)
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
            guard waiting.contains(report.state) else {
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

    func has(_ outcome: OutcomeName) -> Bool { count { $0 == outcome.rawValue } > 0 }

    var sentence: String { "\(sent) of \(all) sent" }

    private func count(_ isMeant: (String) -> Bool) -> Int {
        platforms.reduce(0) { sum, entry in sum + entry.counts.reduce(0) { $0 + (isMeant($1.outcome) ? $1.count : 0) } }
    }
}
