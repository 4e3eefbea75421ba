import Foundation
import HostSupport
import PushModel
import Testing

/// A notification for phones of every platform over real connections, while one push service is unavailable. Only that service's phones
/// are delayed.
@Suite struct MixedFanOutTests {
    @Test(arguments: FanOutService.all)
    func `Three push services get every push while the fourth is unavailable, and it gets its own afterwards`(
        away: FanOutService
    ) async throws {
        let others = FanOutService.all.filter { $0.word != away.word }
        let bench = try await FanOut(devices: 600, of: away, beside: others)
        var reached = 0
        for (round, absence) in Absence.allCases.enumerated() {
            await absence.begin(bench.simulator)
            let sender = try bench.broadcast()
            try await bench.others?.taken(bench.devices * others.count * (round + 1))
            // The newest comes first.
            var newest = try await bench.notifications()
            while newest.count <= round || others.contains(where: { bench.successes(of: $0, in: newest[0]) < bench.devices }) {
                newest = try await bench.notifications()
            }
            #expect(newest[0]["state"]?.string == "Processing")
            #expect(bench.successes(of: away, in: newest[0]) == 0)
            for service in others {
                let (phones, pushes) = try bench.statistics(of: service)
                #expect(phones == bench.devices && pushes == bench.devices * (round + 1), "\(service.word): \(phones), \(pushes)")
            }
            #expect(try bench.statistics(of: away).pushes == reached)
            try await absence.end(bench.simulator)
            #expect(await sender.end().status == 0)
            let ends = try await bench.ends()
            #expect(ends.map { $0["state"]?.string } == Array(repeating: "Completed", count: round + 1))
            for service in bench.services { #expect(bench.successes(of: service, in: ends.first) == bench.devices, "\(ends)") }
            let statistics = try bench.statistics(of: away)
            #expect(statistics.phones == bench.devices && statistics.pushes >= bench.devices * (round + 1), "\(statistics)")
            reached = statistics.pushes
        }
        #expect(await bench.end(SIGTERM) == 0)
        #expect(await bench.simulator.end() == 0)
        #expect(await bench.others?.end() == 0)
        #expect(try bench.rows("SELECT sum(count) FROM outcome_batch") == ["\(bench.devices * 8)"])
        #expect(try bench.rows("SELECT count(*) FROM registration") == ["\(bench.devices * 4)"])
    }

    @Test(arguments: Absence.allCases)
    private func `Browsers of one push service get every push while another is unavailable`(absence: Absence) async throws {
        let bench = try await FanOut(devices: 2_500, of: .webPush, beside: [.webPushToo])
        await absence.begin(bench.simulator)
        let sender = try bench.broadcast()
        try await bench.hear("Web Push at https://localhost:\(bench.simulator.port) does not respond")
        while bench.successes(of: .webPushToo, in: try await bench.notifications().first) < bench.devices {}
        let statistics = try bench.statistics(of: .webPushToo)
        #expect(statistics.phones == bench.devices && statistics.pushes == bench.devices, "\(statistics)")
        let issues = try await bench.program(["hub", "show"])
        #expect(issues.contains("Web Push: https://localhost:\(bench.simulator.port) does not respond"), "\(issues)")
        try await absence.end(bench.simulator)
        #expect(await sender.end().status == 0)
        let newest = try #require(try await bench.ends().first)
        #expect(newest["state"]?.string == "Completed" && bench.successes(of: .webPush, in: newest) == bench.devices * 2, "\(newest)")
        #expect(try bench.statistics(of: .webPush).phones == bench.devices)
        #expect(await bench.end(SIGTERM) == 0)
        #expect(await bench.simulator.end() == 0)
        #expect(await bench.others?.end() == 0)
    }
}
