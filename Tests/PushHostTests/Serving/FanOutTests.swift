import Foundation
import PushCore
import Testing

@testable import PushHost

/// Broadcasts over real connections while servers die, services fail and disks are full: every phone has its push, and few have it twice.
@Suite struct FanOutTests {
    /// Of a notification, when its server is killed.
    private static let mostRepetitions = 5_000

    /// Everybody has the newest notification, as the server says and as the service has written down.
    ///
    /// - Parameters:
    ///   - repetitions: how many pushes there may be beside those that everybody has.
    ///   - what: has befallen it.
    private func expectAllReached(
        _ bench: FanOut, repetitions: Int = .max, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let newest = try await bench.ends().first
        let counts = bench.successes(of: bench.services[0], in: newest)
        #expect(newest?["state"]?.string == "Completed", "\(what)", sourceLocation: sourceLocation)
        #expect(counts == bench.devices, "\(what): \(newest as Any)", sourceLocation: sourceLocation)
        let (phones, pushes) = try bench.census(of: bench.services[0])
        #expect(
            phones == bench.devices && pushes - phones <= repetitions, "\(what): \(phones) phones, \(pushes) pushes",
            sourceLocation: sourceLocation)
        try bench.simulator.clearLedger()
    }

    /// - Parameter notifications: that everybody has had.
    private func expectSound(_ bench: FanOut, notifications: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(await bench.end(SIGTERM) == 0, sourceLocation: sourceLocation)
        #expect(await bench.simulator.end() == 0, sourceLocation: sourceLocation)
        #expect(try bench.rows("PRAGMA integrity_check") == ["ok"], sourceLocation: sourceLocation)
        let outcomes = try bench.rows("SELECT sum(count) FROM outcome_batch")
        #expect(outcomes == ["\(bench.devices * notifications)"], sourceLocation: sourceLocation)
        #expect(try bench.rows("SELECT count(*) FROM registration") == ["\(bench.devices)"], sourceLocation: sourceLocation)
    }

    /// How many devices there are, and at which requests the server dies. Each time more were reached than may be reached again.
    private struct Fate: Sendable, CustomTestStringConvertible {
        let service: FanOutService
        var devices = 6_500
        var kills = [5_500]

        var testDescription: String { "\(service.word), \(devices)" }

        static let all = [
            Fate(service: .apns, devices: 100_000, kills: [9_000, 35_000, 80_000]), Fate(service: .fcm), Fate(service: .wns),
            Fate(service: .webPush),
        ]
    }

    @Test(arguments: Fate.all)
    private func `A server that is killed in a broadcast goes on where it was`(fate: Fate) async throws {
        let bench = try await FanOut(devices: fate.devices, of: fate.service)
        let sender = try bench.broadcast()
        for requests in fate.kills {
            try await bench.simulator.taken(requests)
            #expect(await bench.end(SIGKILL) == 128 + SIGKILL)
            try await bench.startServer()
        }
        _ = await sender.end()
        try await expectAllReached(bench, repetitions: fate.kills.count * Self.mostRepetitions)
        try await expectSound(bench)
    }

    @Test(arguments: FanOutService.all)
    func `A push service that dies, stands still or breaks connections off has every push at last`(service: FanOutService) async throws {
        let bench = try await FanOut(devices: 1_000, of: service)
        var sender = try bench.broadcast(pace: "200/s")
        try await bench.simulator.taken(300)
        await bench.simulator.end(SIGKILL)
        try await bench.hear("\(service.name) takes nothing")
        try await bench.simulator.start()
        #expect(await sender.end().status == 0)
        try await expectAllReached(bench, "killed")

        // In batches that all go out at once, so that nobody answers any of them at the same moment.
        sender = try bench.broadcast(pace: "100/s")
        try await bench.simulator.taken(1_000)
        bench.simulator.signal(SIGSTOP)
        try await bench.hear("\(service.name) answers nobody")
        bench.simulator.signal(SIGCONT)
        #expect(await sender.end().status == 0)
        try await expectAllReached(bench, "stopped")

        let faults = #"{"reset_connections_every": 10, "reset_every": 300, "goaway_every": 250}"#
        try await bench.simulator.control("POST", "/connections", faults)
        sender = try bench.broadcast()
        #expect(await sender.end().status == 0)
        try await expectAllReached(bench, "broken off")
        try await expectSound(bench, notifications: 3)
    }

    /// Some devices are put off, or all of them until the hub has noticed.
    @Test(arguments: FanOutService.all)
    func `What a push service puts off, it gets again`(service: FanOutService) async throws {
        let bench = try await FanOut(devices: 1_000, of: service)
        let faults = "/faults/\(service.word)"
        func round(_ fault: String, isOutage: Bool = true) async throws {
            try await bench.simulator.control("POST", faults, "{\(fault)}")
            let sender = try bench.broadcast()
            if isOutage {
                try await bench.hear("\(service.name) answers nobody")
                try await bench.simulator.control("DELETE", faults)
            }
            #expect(await sender.end().status == 0)
            try await expectAllReached(bench, repetitions: 0, fault)
        }
        let (throttled, failing, unavailable) = service.putOffs
        try await round(#""reason": "\#(throttled)", "count": 400, "retry_after": 1"#, isOutage: false)
        try await round(#""reason": "\#(failing)""#)
        try await round(#""reason": "\#(unavailable)", "retry_after": 1"#)
        let givesTokens = [Platform.fcmV1, .wns].contains(service.platform)
        if givesTokens {
            // Those that the hub has end before their time, and there are no others.
            try await bench.simulator.control("DELETE", "/tokens/\(service.word)")
            try await round(#""reason": "server_error", "at": "token""#)
        }
        try await expectSound(bench, notifications: givesTokens ? 4 : 3)
    }

    @Test(arguments: FanOutService.all)
    func `A full disk holds a broadcast up, and costs nobody a push`(service: FanOutService) async throws {
        let bench = try await FanOut(devices: service.platform == .apns ? 10_000 : 5_000, of: service)
        _ = await bench.end(SIGTERM)
        // 300 KiB for each file.
        try await bench.startServer(line: #"trap '' XFSZ; ulimit -S -f 600; exec "$0" "$@""#)
        let sender = try bench.broadcast()
        try await bench.hear("progress is not on disk yet")
        let lift = try await Program.run(
            ["--pid", "\(bench.serverID)", "--fsize=unlimited"], tool: URL(filePath: "/usr/bin/prlimit"))
        #expect(lift.status == 0, "\(lift.errors)")
        #expect(await sender.end().status == 0)
        try await expectAllReached(bench, repetitions: 0)
        try await expectSound(bench)
    }
}
