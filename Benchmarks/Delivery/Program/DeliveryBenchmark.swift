import Delivery
import Glibc
import PushCore

/// The sender of `make bench-delivery`: pushes through the APNs connector to a sink, from the queue item to the classified verdict.
///
///     DeliveryBenchmark PORT CERTIFICATE KEY PUSHES STREAMS
///
/// Prints how many were accepted, the seconds that passed and the CPU seconds of the process, of the sending alone.
@main struct DeliveryBenchmark {
    /// Devices of a batch, as the outbox hands them out.
    private static let batchSize = 1_000
    /// Batches at a time: the next is made while the one before is on its way.
    private static let senders = 2

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 6, let port = Int(words[1]), let pushes = Int(words[4]), let streams = Int(words[5]) else {
            print("DeliveryBenchmark PORT CERTIFICATE KEY PUSHES STREAMS")
            exit(2)
        }
        var limits = HTTP2Limits()
        (limits.connections, limits.streams) = (1, streams)
        let trust = TLSTrust(roots: .only(try TLSTrust.certificates(pem: try read(words[2]))))
        let transport = HTTP2Transport(
            route: PushRoute(host: "127.0.0.1", port: port, name: "localhost"), trust: trust, limits: limits, random: MachineRandom())
        let settings = APNsSettings(
            teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(String(decoding: try read(words[3]), as: UTF8.self)),
            topic: "com.example.app")
        let connector = try APNsConnector(settings: settings, transport: transport, clock: MachineClock())
        let batches = (0..<max(1, pushes / batchSize)).map(batch)
        // The connection, and the token that is signed once an hour.
        _ = await connector.deliver(batch(0))
        let start = Moment.now
        let accepted = await send(batches, connector)
        let spent = Moment.now - start
        print("\(accepted) \(spent.passed) \(spent.processor)")
        await transport.shutdown()
    }

    private static func send(_ batches: [DeliveryBatch], _ connector: APNsConnector) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for first in 0..<senders {
                group.addTask {
                    var accepted = 0
                    for index in stride(from: first, to: batches.count, by: senders) {
                        for case .accepted(.some) in await connector.deliver(batches[index]) { accepted += 1 }
                    }
                    return accepted
                }
            }
            return await group.reduce(0, +)
        }
    }

    /// Tokens of 64 digits, a body of 210 bytes.
    private static func batch(_ number: Int) -> DeliveryBatch {
        let handles = (0..<batchSize).map { index -> DeviceHandle in
            let digits = String(number * batchSize + index, radix: 16, uppercase: true)
            return .apns(token: String(repeating: "0", count: 64 - digits.count) + digits)
        }
        let text = #"{"aps":{"alert":{"title":"A title of usual length","body":""#
        let end = #""},"sound":"default"}}"#
        let body = text + String(repeating: "x", count: 210 - text.utf8.count - end.utf8.count) + end
        return DeliveryBatch(notificationID: "n\(number)", platform: .apns, body: Array(body.utf8), handles: handles)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw PushError("file.unreadable", "\(path) cannot be read") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}

/// Seconds that have passed, and seconds of the processors that the process has used.
private struct Moment {
    var passed: Double
    var processor: Double

    static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Moment(
            passed: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9, processor: seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }

    static func - (later: Moment, earlier: Moment) -> Moment {
        Moment(passed: later.passed - earlier.passed, processor: later.processor - earlier.processor)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

private struct MachineClock: HubClock {
    var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func sleep(until deadline: Timestamp) async throws { try await Task.sleep(for: deadline - now) }
}

private struct MachineRandom: RandomSource {
    func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
