import Glibc
import PushHub
import PushModel
import Storage

/// Measures how many sends per second a hub accepts when each is on the disk before it is answered: `make bench-storage`.
///
/// `StorageBenchmark [FOLDER [FIGURE]]`: FOLDER is where files are written; its disk determines the cost of a sync. FIGURE is a
/// part of a name, and only such figures are measured.
@main
struct StorageBenchmark {
    /// Accepted sends per second with 64 writers at the hub.
    private static let goal = 50_000.0

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let folder = Folder(path: arguments.first ?? ".build/bench-storage/data")
        let wanted = arguments.dropFirst().first ?? ""
        if wanted == Devices.reading { return try await Devices(folder: folder).read() }
        if wanted == "devices" { return try await Devices(folder: folder).run() }
        let before = ProcessorTime.now
        let floor = try Floor(path: folder.newFile()).rate(total: 200_000, batch: 64)
        print(
            """
            | accepted a second | writers | rate | mean wait | of the floor | user µs each | system µs each |
            |---|---:|---:|---:|---:|---:|---:|
            | floor: SQLite alone, 64 rows a commit, no index | 1 | \(Int(floor)) | – | 1.00 \(used(since: before, by: 200_000))
            """)
        for (name, makeTarget) in targets where name.contains(wanted) {
            for (writers, total) in [(1, 20_000), (8, 80_000), (64, 100_000), (512, 100_000)] {
                let storage = try await SQLiteStorage.open(folder.newFile(), seal: .bench)
                let before = ProcessorTime.now
                let rate = try await Load(writers: writers, total: total).rate(try await makeTarget(storage))
                let used = used(since: before, by: total)
                try await storage.close()
                let wait = Double(writers) / rate * 1000
                let missed = name == "hub" && writers == 64 && rate < goal ? ", **below \(Int(goal))**" : ""
                print("| \(name) | \(writers) | \(Int(rate))\(missed) | \(fixed(wait)) ms | \(fixed(rate / floor)) \(used)")
            }
        }
        folder.clear()
        if "outcomes".contains(wanted) { try await Outcomes(folder: folder).run() }
        if wanted.isEmpty { try await Devices(folder: folder).run() }
    }

    /// The last cells of a row: the CPU time for each of `total`.
    private static func used(since before: ProcessorTime, by total: Int) -> String {
        let used = ProcessorTime.now - before
        return [used.user, used.system].map { "| \(fixed($0 / Double(total) * 1_000_000)) " }.joined() + "|"
    }

    private static let targets: [(name: String, make: @Sendable (SQLiteStorage) async throws -> Load.Target)] = [
        ("store", storeTarget), ("hub", hubTarget),
    ]

    /// Measures the store alone: the writer prepares its input.
    @Sendable private static func storeTarget(_ storage: SQLiteStorage) async throws -> Load.Target {
        let store = storage.namespace.store(ofHub: 1)
        let request = try Load.request()
        let (clock, random) = (MachineClock(), MachineRandom())
        return { number in
            let outcome = NotificationOutcome(
                id: "\(random.hex(32))-20260105090000-\(number)-1", state: .enqueued, tags: Load.tags,
                times: NotificationTimes(enqueuedAt: clock.now))
            _ = try await store.accept(StoredNotification(sequence: Int64(number), request: request, outcome: outcome))
        }
    }

    /// Measures the hub as in a server, which accepts and does not deliver.
    @Sendable private static func hubTarget(_ storage: SQLiteStorage) async throws -> Load.Target {
        let environment = HubEnvironment(
            clock: MachineClock(), random: MachineRandom(), start: { work in Task { await work() } })
        let hub = NotificationHub(
            environment: environment, connectors: [], store: storage.namespace.store(ofHub: 1),
            settings: HubSettings(
                acceptance: HubSettings.Acceptance(naming: .unique), limits: HubSettings.Limits(concurrentNotifications: 0)))
        let request = try Load.request()
        return { _ in _ = try await hub.accept(request) }
    }
}

/// Formats a number with two decimal places.
func fixed(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}
