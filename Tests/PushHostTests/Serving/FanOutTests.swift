import Foundation
import PushCore
import Testing

@testable import PushHost

/// Broadcasts over real connections while servers die, services fail and disks are full: every phone has its push, and few have it twice.
@Suite struct FanOutTests {
    /// Of a notification, when its server is killed.
    private static let mostRepetitions = 5_000

    private func expectCompleted(_ bench: FanOut) async throws {
        let ends = try await bench.ends()
        #expect(ends.map { $0["state"]?.string } == ["Completed"])
        #expect(ends.first?["outcomes"]?["apns"]?["Success"]?.int == bench.devices, "\(ends)")
    }

    private func expectSound(_ bench: FanOut) throws {
        #expect(try bench.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try bench.rows("SELECT sum(count) FROM outcome_batch") == ["\(bench.devices)"])
        #expect(try bench.rows("SELECT count(*) FROM registration") == ["\(bench.devices)"])
    }

    /// - Parameter once: whether nobody may have got it twice.
    private func expectAllReached(_ bench: FanOut, _ sender: Dialogue, once: Bool = false) async throws {
        #expect(await sender.end().status == 0)
        try await expectCompleted(bench)
        let (phones, pushes) = try await bench.census()
        #expect(phones == bench.devices && (!once || pushes == phones), "\(phones) phones, \(pushes) pushes")
        #expect(await bench.end(SIGTERM) == 0)
        try expectSound(bench)
        await bench.endSimulator(SIGINT)
    }

    @Test func `A server that is killed in a broadcast to 100,000 goes on where it was`() async throws {
        let bench = try await FanOut(devices: 100_000)
        let sender = try bench.broadcast()
        let kills = [9_000, 35_000, 80_000]
        for requests in kills {
            try await bench.taken(requests)
            #expect(await bench.end(SIGKILL) == 128 + SIGKILL)
            try await bench.startServer()
        }
        _ = await sender.end()
        try await expectCompleted(bench)
        let (phones, pushes) = try await bench.census()
        #expect(phones == bench.devices)
        #expect(pushes - phones <= kills.count * Self.mostRepetitions, "\(pushes - phones) repetitions")
        #expect(await bench.end(SIGTERM) == 0)
        try expectSound(bench)
        await bench.endSimulator(SIGINT)
    }

    @Test func `A push service that is killed and comes back has every push at last`() async throws {
        let bench = try await FanOut(devices: 2_000, simulator: ["--ledger", "ledger.jsonl"])
        let sender = try bench.broadcast(pace: "200/s")
        try await bench.taken(500)
        await bench.endSimulator(SIGKILL)
        try await bench.hear("APNs takes nothing")
        try await bench.startSimulator()
        #expect(await sender.end().status == 0)
        try await expectCompleted(bench)
        #expect(await bench.end(SIGTERM) == 0)
        #expect(await bench.endSimulator(SIGINT) == 0)
        #expect(try bench.ledger().phones == bench.devices)
        try expectSound(bench)
    }

    @Test func `A push service that stands still has every push when it goes on`() async throws {
        let bench = try await FanOut(devices: 3_000)
        let sender = try bench.broadcast(pace: "200/s")
        try await bench.taken(500)
        bench.signalSimulator(SIGSTOP)
        try await bench.hear("APNs answers nobody")
        bench.signalSimulator(SIGCONT)
        try await expectAllReached(bench, sender)
    }

    /// Some devices, or all of them until the hub has noticed.
    @Test(arguments: ["TooManyRequests", "InternalServerError", "ServiceUnavailable"], ["", #", "retry_after": 1"#])
    func `What a push service puts off, it gets again`(reason: String, more: String) async throws {
        let bench = try await FanOut(devices: 3_000)
        let isOutage = reason != "TooManyRequests"
        let extent = isOutage ? "" : #", "count": 1200"#
        try await bench.control("POST", "/faults/apns", #"{"reason": "\#(reason)"\#(extent)\#(more)}"#)
        let sender = try bench.broadcast()
        if isOutage {
            try await bench.hear("APNs answers nobody")
            try await bench.control("DELETE", "/faults/apns", "")
        }
        try await expectAllReached(bench, sender, once: true)
    }

    @Test func `Connections that break off cost nobody a push`() async throws {
        let bench = try await FanOut(
            devices: 4_000, simulator: ["--reset-connections-every", "10", "--reset-every", "900", "--goaway-every", "700"])
        let sender = try bench.broadcast()
        try await expectAllReached(bench, sender)
    }

    @Test func `A full disk holds a broadcast up, and costs nobody a push`() async throws {
        let bench = try await FanOut(devices: 10_000)
        _ = await bench.end(SIGTERM)
        // 300 KiB for each file.
        try await bench.startServer(line: #"trap '' XFSZ; ulimit -S -f 600; exec "$0" "$@""#)
        let sender = try bench.broadcast()
        try await bench.hear("progress is not on disk yet")
        let lift = try await Program.run(
            ["--pid", "\(bench.serverID)", "--fsize=unlimited"], tool: URL(filePath: "/usr/bin/prlimit"))
        #expect(lift.status == 0, "\(lift.errors)")
        try await expectAllReached(bench, sender, once: true)
    }
}
