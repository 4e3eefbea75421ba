import Glibc
import PushHub
import PushModel
import Storage

/// Measures a hub with a million devices: memory, start time, and the preparation of a broadcast.
///
/// APNs registrations with tokens of 32 bytes, five tags each (one of them unique), and one of eight templates.
struct Devices {
    private static let count = 1_000_000
    /// Figures of the process that reads what another one has written, so that its heap is not fragmented.
    static let reading = "devices-as-kept"

    let folder: Folder

    private var file: String { "\(folder.path)/bench.sqlite" }

    /// Writes the registrations, and continues in a new process.
    func run() async throws {
        let storage = try await SQLiteStorage.open(folder.newFile(), seal: .bench)
        let store = storage.namespace.store(ofHub: 1)
        let templates = try (0..<8).map { try RegistrationTemplate(body: #"{"aps":{"alert":"\#($0) $(text)"}}"#, platform: .apns) }
        var random = Numbers(seed: 1)
        for first in stride(from: 0, to: Self.count, by: 5000) {
            var change = RegistrationChange()
            for number in first..<first + 5000 {
                change.puts.append(
                    RegistrationRow(row: UInt32(number), registration: try Self.registration(number, templates, &random)))
            }
            try await store.commit(change)
        }
        try await storage.close()
        let arguments = [CommandLine.arguments[0], folder.path, Self.reading]
        var pointers = arguments.map { strdup($0) } + [nil]
        execv(arguments[0], &pointers)
    }

    private static func registration(
        _ number: Int, _ templates: [RegistrationTemplate], _ random: inout Numbers
    ) throws -> Registration {
        let token = (0..<4).map { _ in String(random.next() | 1 << 63, radix: 16, uppercase: true) }.joined()
        let tags = [
            "follows_\(random.next() % 6)", "promo_\(random.next() % 2)", "location_City\(random.next() % 50)",
            "version_5.\(random.next() % 8)", "username:user-\(number)",
        ]
        let id = "\(random.next() % 9_000_000_000_000_000_000)-\(random.next() % 9_000_000_000_000_000_000)-1"
        guard let id = RegistrationID(id) else { throw PushError("benchmark.id", "no id: \(id)") }
        return Registration(
            id: id, etag: 1, expiration: .distantFuture, updatedAt: Timestamp(seconds: 1_767_603_600),
            description: RegistrationDescription(
                handle: .apns(token: token), tags: try tags.map { try Tag($0) }, template: templates[number % 8]))
    }

    /// Reads what `run` has written.
    func read() async throws {
        let storage = try await SQLiteStorage.open(file, seal: .bench)
        let store = storage.namespace.store(ofHub: 1)
        let (before, used) = (Self.residentBytes, ProcessorTime.now)
        let environment = HubEnvironment(clock: MachineClock(), random: MachineRandom(), start: { work in Task { await work() } })
        let began = ContinuousClock.now
        let hub = NotificationHub(
            environment: environment, connectors: [], store: store, loaded: try await store.load(into: HubLoader()))
        let time = (ContinuousClock.now - began) / .seconds(1)
        let start = ProcessorTime.now - used
        let bytes = Double(Self.residentBytes - before) / Double(Self.count)
        let size = await hub.size()
        print(
            """

            | a hub of \(size.registrations) devices | measured | goal |
            |---|---:|---:|
            | resident memory for each, bytes | \(fixed(bytes)) | 100 |
            | start, seconds of CPU time | \(fixed(start.user + start.system)) | 1 |
            | start, seconds | \(fixed(time)) | |
            """)
        let templates = NotificationRequest(audience: .everyone, content: .template(["text": "Hello"]))
        let tagged = try NotificationRequest(
            audience: .expression(TagExpression(parsing: "promo_1 && !follows_3")), content: .template(["text": "Hello"]))
        for (name, request, goal) in [("every device", templates, "50"), ("promo_1 && !follows_3", tagged, "")] {
            var times: [Double] = []
            var devices = 0
            for _ in 0..<9 {
                let before = ProcessorTime.now
                let preview = try await hub.preview(request)
                let used = ProcessorTime.now - before
                times.append(used.user + used.system)
                devices = preview.groups.reduce(0) { $0 + $1.devices }
            }
            let median = times.sorted()[times.count / 2] * 1000
            print("| a send to \(name) prepared, \(devices) devices, ms of CPU time, median of 9 | \(fixed(median)) | \(goal) |")
            try await plan(PlanRequest(audience: request.audience, content: request.content), name, hub)
        }
        withExtendedLifetime(hub) {}
        try await storage.close()
        folder.clear()
    }

    /// A plan counts tags, which are read from the disk. A stored plan is written there, and compared with the one before.
    private func plan(_ request: PlanRequest, _ name: String, _ hub: NotificationHub) async throws {
        for isStored in [false, true] {
            var request = request
            request.isStored = isStored
            var times: [(used: Double, passed: Double)] = []
            for _ in 0..<5 {
                let (before, began) = (ProcessorTime.now, ContinuousClock.now)
                _ = try await hub.plan(request)
                let used = ProcessorTime.now - before
                times.append((used.user + used.system, (ContinuousClock.now - began) / .seconds(1)))
            }
            let (used, passed) = (times.map(\.used).sorted()[2], times.map(\.passed).sorted()[2])
            print(
                "| a plan for \(name)\(isStored ? ", stored and compared" : ""), s of CPU time (s), median of 5 | \(fixed(used)) (\(fixed(passed))) | |"
            )
        }
    }

    private static var residentBytes: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (Int(text.split(separator: " ").dropFirst().first ?? "0") ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// SplitMix64 (Steele, Lea and Flood).
private struct Numbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
