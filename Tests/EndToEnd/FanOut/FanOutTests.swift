import Foundation
import HostSupport
import PushModel
import Testing

/// Broadcasts over real connections while servers are killed, services fail and disks are full. Every phone gets its push, and few get
/// it twice.
@Suite struct FanOutTests {
    /// The limit of repeated pushes for each kill of the server.
    private static let mostRepetitions = 5_000

    /// Expects that every device has the newest notification, according to the server and to the service's ledger.
    ///
    /// - Parameters:
    ///   - repetitions: the maximum number of pushes beyond one per device.
    ///   - what: the fault, for messages.
    private func expectAllReached(
        _ bench: FanOut, repetitions: Int = .max, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let newest = try await bench.ends().first
        let counts = bench.successes(of: bench.services[0], in: newest)
        #expect(newest?["state"]?.string == "Completed", "\(what)", sourceLocation: sourceLocation)
        #expect(counts == bench.devices, "\(what): \(newest as Any)", sourceLocation: sourceLocation)
        let (phones, pushes) = try bench.statistics(of: bench.services[0])
        #expect(
            phones == bench.devices && pushes - phones <= repetitions, "\(what): \(phones) phones, \(pushes) pushes",
            sourceLocation: sourceLocation)
        try bench.simulator.clearLedger()
    }

    /// - Parameter notifications: the number of notifications that every device has received.
    private func expectSound(_ bench: FanOut, notifications: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(await bench.end(SIGTERM) == 0, sourceLocation: sourceLocation)
        #expect(await bench.simulator.end() == 0, sourceLocation: sourceLocation)
        #expect(try bench.rows("PRAGMA integrity_check") == ["ok"], sourceLocation: sourceLocation)
        let outcomes = try bench.rows("SELECT sum(count) FROM outcome_batch")
        #expect(outcomes == ["\(bench.devices * notifications)"], sourceLocation: sourceLocation)
        #expect(try bench.rows("SELECT count(*) FROM registration") == ["\(bench.devices)"], sourceLocation: sourceLocation)
    }

    /// The number of devices, and the requests after which the server is killed. At each kill more pushes have been sent than may be
    /// repeated.
    private struct Scenario: Sendable, CustomTestStringConvertible {
        let service: FanOutService
        var devices = 6_500
        var kills = [5_500]

        var testDescription: String { "\(service.word), \(devices)" }

        static let all = [
            Scenario(service: .apns, devices: 100_000, kills: [9_000, 35_000, 80_000]), Scenario(service: .fcm), Scenario(service: .wns),
            Scenario(service: .webPush),
        ]
    }

    @Test(arguments: Scenario.all)
    private func `A server killed during a broadcast resumes it`(scenario: Scenario) async throws {
        let bench = try await FanOut(devices: scenario.devices, of: scenario.service)
        let sender = try bench.broadcast()
        for requests in scenario.kills {
            try await bench.simulator.taken(requests)
            #expect(await bench.end(SIGKILL) == 128 + SIGKILL)
            try await bench.startServer()
        }
        _ = await sender.end()
        try await expectAllReached(bench, repetitions: scenario.kills.count * Self.mostRepetitions)
        try await expectSound(bench)
    }

    @Test(arguments: FanOutService.all)
    func `A push service that is killed, stopped or resets connections gets every push eventually`(service: FanOutService) async throws {
        let bench = try await FanOut(devices: 1_000, of: service)
        var sender = try bench.broadcast(pace: "200/s")
        try await bench.simulator.taken(300)
        await bench.simulator.end(SIGKILL)
        try await bench.hear("\(service.name) fails all deliveries")
        try await bench.simulator.start()
        #expect(await sender.end().status == 0)
        try await expectAllReached(bench, "killed")

        // All batches are in flight at once, so that none gets a response during the stop.
        sender = try bench.broadcast(pace: "100/s")
        try await bench.simulator.taken(1_000)
        bench.simulator.signal(SIGSTOP)
        try await bench.hear("does not respond; nothing is sent to it")
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

    /// The service refuses some devices temporarily, or all until the hub has noticed.
    @Test(arguments: FanOutService.all)
    func `Temporarily refused pushes are sent again`(service: FanOutService) async throws {
        let bench = try await FanOut(devices: 1_000, of: service)
        let faults = "/faults/\(service.word)"
        func round(_ fault: String, isOutage: Bool = true) async throws {
            try await bench.simulator.control("POST", faults, "{\(fault)}")
            let sender = try bench.broadcast()
            if isOutage {
                try await bench.hear("does not respond; nothing is sent to it")
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
            // Revokes the hub's access tokens; new ones are refused.
            try await bench.simulator.control("DELETE", "/tokens/\(service.word)")
            try await round(#""reason": "server_error", "at": "token""#)
        }
        try await expectSound(bench, notifications: givesTokens ? 4 : 3)
    }

    @Test(arguments: FanOutService.all)
    func `A full disk delays a broadcast and loses no push`(service: FanOutService) async throws {
        let bench = try await FanOut(devices: service.platform == .apns ? 10_000 : 5_000, of: service)
        _ = await bench.end(SIGTERM)
        // 300 KiB for each file.
        try await bench.startServer(line: #"trap '' XFSZ; ulimit -S -f 600; exec "$0" "$@""#)
        let sender = try bench.broadcast()
        try await bench.hear("progress is not stored yet")
        let lift = try await BuiltProgram.run(
            ["--pid", "\(bench.serverID)", "--fsize=unlimited"], tool: URL(filePath: "/usr/bin/prlimit"))
        #expect(lift.status == 0, "\(lift.errors)")
        #expect(await sender.end().status == 0)
        try await expectAllReached(bench, repetitions: 0)
        try await expectSound(bench)
    }
}
