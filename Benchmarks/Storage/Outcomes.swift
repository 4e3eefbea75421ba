import Glibc
import PushModel
import Storage

/// Measures storing the outcome of every device of a broadcast, reading all of them, and deleting them.
struct Outcomes {
    /// The number of devices, each with a registration in the hub.
    static let devices = 1_000_000

    let folder: Folder
    private let random = SeededRandom(seed: 7)
    private let clock = MachineClock()

    init(folder: Folder) { self.folder = folder }

    /// Prints a row for each size of a step.
    func run() async throws {
        print(
            """

            | outcomes stored, \(Self.devices) devices | devices per step | per second | CPU µs each | bytes each | sends accepted per second \
            meanwhile | worst wait | read, µs each | forgotten, µs each |
            |---|---:|---:|---:|---:|---:|---:|---:|---:|
            """)
        for step in [500, 5_000] {
            let path = folder.newFile()
            let storage = try await SQLiteStorage.open(path, seal: .bench)
            let store = storage.namespace.store(ofHub: 1)
            try await register(in: store)
            let alone = try await sendersAlone(store)
            print("| 8 senders, nothing else | – | – | – | – | \(alone.accepted) | \(alone.worst) | – | – |")
            for (number, name) in [(1, "first push to each"), (2, "second, as the first"), (3, "third, beside 8 senders")]
                as [(Int64, String)]
            {
                let before = try size(path)
                let cost = try await broadcast(number, step: step, in: store, isBesideSenders: number == 3)
                let bytes = Double(try size(path) - before) / Double(Self.devices)
                var cells = [
                    name, "\(step)", "\(Int(Double(Self.devices) / cost.time))", fixed(cost.processor), number == 3 ? "–" : fixed(bytes),
                    cost.accepted, cost.worst,
                ]
                cells.append(number == 2 ? fixed(try await readAll(number, from: store)) : "–")
                cells.append(number == 2 ? fixed(try await forget(store)) : "–")
                print("| \(cells.joined(separator: " | ")) |")
            }
            try await storage.close()
        }
        folder.clear()
    }

    private struct Cost {
        /// Seconds in total, without the preparation.
        var time: Double
        /// CPU microseconds per device, of the whole process.
        var processor: Double
        var accepted = "–"
        var worst = "–"

        mutating func add(_ sent: (rate: Double, worst: Double)) {
            accepted = "\(Int(sent.rate))"
            worst = "\(fixed(sent.worst * 1000)) ms"
        }
    }

    private func sendersAlone(_ store: any HubStore) async throws -> Cost {
        let senders = Senders(store: store, behind: 1000, request: try Load.request(), clock: clock)
        let sending = Task { try await senders.run(8) }
        try await Task.sleep(for: .seconds(3))
        senders.stop()
        var cost = Cost(time: 0, processor: 0)
        cost.add(try await sending.value)
        return cost
    }

    private func register(in store: any HubStore) async throws {
        for first in stride(from: 0, to: Self.devices, by: 5_000) {
            let puts = (first..<first + 5_000).map { number in
                RegistrationRow(
                    row: UInt32(number),
                    registration: Registration(
                        id: id(number), etag: 1, expiration: .distantFuture, updatedAt: clock.now,
                        description: RegistrationDescription(handle: handle(number), tags: [])))
            }
            try await store.commit(RegistrationChange(puts: puts))
        }
    }

    private func broadcast(_ sequence: Int64, step: Int, in store: any HubStore, isBesideSenders: Bool) async throws -> Cost {
        var outcome = NotificationOutcome(
            id: "n-\(sequence)", state: .processing, tags: nil, times: NotificationTimes(enqueuedAt: clock.now))
        let request = try Load.request()
        _ = try await store.accept(StoredNotification(sequence: sequence, request: request, outcome: outcome))
        let senders = isBesideSenders ? Senders(store: store, behind: 1_000_000, request: request, clock: clock) : nil
        let sending = Task { try await senders?.run(8) }
        var (time, processor) = (0.0, 0.0)
        for first in stride(from: 0, to: Self.devices, by: step) {
            let devices = (first..<first + step).map { device($0, of: sequence) }
            outcome.tally.count(devices)
            let last =
                sequence == 1
                ? Dictionary(uniqueKeysWithValues: zip((first..<first + step).map { UInt32($0) }, devices.map(\.outcome))) : [:]
            if first + step == Self.devices { (outcome.state, outcome.times.endedAt) = (.completed, clock.now) }
            let before = ProcessorTime.now
            time +=
                try await ContinuousClock().measure {
                    try await store.record(
                        NotificationProgress(sequence: sequence, outcome: outcome, devices: devices, lastOutcomes: last))
                } / .seconds(1)
            let used = ProcessorTime.now - before
            processor += used.user + used.system
        }
        senders?.stop()
        let sent = try await sending.value
        var cost = Cost(time: time, processor: processor / Double(Self.devices) * 1_000_000)
        if let sent { cost.add(sent) }
        return cost
    }

    private func readAll(_ sequence: Int64, from store: any HubStore) async throws -> Double {
        let before = ProcessorTime.now
        var start = 0
        while true {
            let page = try await store.devices(ofNotification: sequence, from: start, limit: 1000)
            start += page.count
            if page.count < 1000 { break }
        }
        guard start == Self.devices else { throw Floor.Failure(message: "\(start) of \(Self.devices) devices were read") }
        let used = ProcessorTime.now - before
        return (used.user + used.system) / Double(start) * 1_000_000
    }

    /// Deletes both notifications and returns the CPU microseconds per outcome.
    private func forget(_ store: any HubStore) async throws -> Double {
        let before = ProcessorTime.now
        guard try await store.removeEnded(before: .distantFuture, limit: 9) == 2 else {
            throw Floor.Failure(message: "not every notification was forgotten")
        }
        let used = ProcessorTime.now - before
        return (used.user + used.system) / Double(2 * Self.devices) * 1_000_000
    }

    /// The size of the database in bytes.
    private func size(_ path: String) throws -> Int {
        var total = 0
        for suffix in ["", "-wal"] {
            let file = open(path + suffix, O_RDONLY)
            guard file >= 0 else { continue }
            // The log is not counted, because it is overwritten again and again.
            if suffix.isEmpty { total += lseek(file, 0, SEEK_END) }
            close(file)
        }
        return total
    }

    // MARK: - Devices

    private func id(_ number: Int) -> RegistrationID {
        RegistrationID("\(1_000_000_000_000_000_000 + number * 7_919)-\(9_000_000_000_000_000_000 - number * 104_729)-1")
            ?? RegistrationID(random: random)
    }

    private func handle(_ number: Int) -> DeviceHandle { .apns(token: hex(UInt64(number), words: 4).uppercased()) }

    private func device(_ number: Int, of sequence: Int64) -> DeviceOutcome {
        // One in 200 has an invalid token, and one in 100 is throttled too often.
        let isInvalid = number % 200 == 7
        let outcome: OutcomeName = isInvalid ? .expiredChannel : number % 100 == 3 ? .throttled : .success
        let digits = hex(UInt64(number) &+ UInt64(sequence) << 40, words: 2)
        func part(_ from: Int, _ count: Int) -> Substring { digits.dropFirst(from).prefix(count) }
        return DeviceOutcome(
            device: OutcomeDevice(registrationID: id(number), platform: .apns, handle: handle(number), templateName: nil), outcome: outcome,
            reason: outcome == .success ? "" : isInvalid ? "Unregistered" : "TooManyRequests",
            cause: outcome == .success ? .accepted : .text("the app was removed from the device, or its token is an old one"),
            pushID: outcome == .success ? "\(part(0, 8))-\(part(8, 4))-\(part(12, 4))-\(part(16, 4))-\(part(20, 12))" : nil, size: 210,
            isRegistrationRemoved: isInvalid)
    }

    private func hex(_ seed: UInt64, words: Int) -> String {
        let random = SeededRandom(seed: seed)
        return (0..<words).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
