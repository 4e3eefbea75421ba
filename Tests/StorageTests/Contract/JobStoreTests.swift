import PushModel
import Storage
import Support
import Testing

@Suite struct JobStoreTests {
    private static func job(
        _ number: Int64, kind: NotificationHubJob.Kind = .exportRegistrations, status: NotificationHubJob.Status = .started
    ) -> NotificationHubJob {
        NotificationHubJob(
            id: "job-\(number)", kind: kind, outputContainerURI: "file:///\(Samples.oddText)",
            createdAt: HubBench.startTime + .seconds(number),
            progress: NotificationHubJob.Progress(status: status, updatedAt: HubBench.startTime + .seconds(2 * number)))
    }

    @Test(arguments: Engine.allCases)
    func `Jobs of every kind are returned unchanged`(engine: Engine) async throws {
        try await engine.runHub { store in
            for (number, kind) in NotificationHubJob.Kind.allCases.enumerated() {
                var job = Self.job(Int64(number), kind: kind)
                try await store.putJob(job)
                #expect(try await store.job(job.id) == job)
                job.importFileURI = Samples.oddText
                job.inputProperties = [Samples.oddText: "", "a": Samples.oddText]
                job.progress.outputProperties = ["OutputFilePath": "/hub/job/Output.txt"]
                job.progress.failure = Samples.oddText
                job.progress.percent = 33.25
                job.progress.status = .failed
                try await store.putJob(job)
                #expect(try await store.job(job.id) == job)
            }
            #expect(try await store.job("another") == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `The newest job is listed first, and the oldest unfinished one resumes first`(engine: Engine) async throws {
        try await engine.runHub { store in
            for (number, status) in NotificationHubJob.Status.allCases.enumerated() {
                try await store.putJob(Self.job(Int64(number), status: status))
            }
            #expect(try await store.jobs(limit: 3).map(\.id) == ["job-3", "job-2", "job-1"])
            #expect(try await store.unfinishedJobs().map(\.id) == ["job-0", "job-1"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Jobs that ended long ago are deleted, oldest first`(engine: Engine) async throws {
        try await engine.runHub { store in
            for number in Int64(0)..<6 { try await store.putJob(Self.job(number, status: number == 0 ? .running : .completed)) }
            let time = HubBench.startTime + .seconds(8)
            #expect(try await store.removeJobs(endedBefore: time, limit: 2) == 2)
            #expect(try await store.jobs(limit: 9).map(\.id) == ["job-5", "job-4", "job-3", "job-0"])
            #expect(try await store.removeJobs(endedBefore: time, limit: 2) == 1)
            #expect(try await store.jobs(limit: 9).map(\.id) == ["job-5", "job-4", "job-0"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Jobs belong to their hub and are removed with it`(engine: Engine) async throws {
        try await engine.run { storage in
            for number in Int64(1)...2 {
                try await storage.namespace.putHub(Samples.hub(number, name: "hub-\(number)"))
                try await storage.namespace.store(ofHub: number).putJob(Self.job(number))
            }
            try await storage.namespace.removeHub(1)
            #expect(try await storage.namespace.store(ofHub: 1).jobs(limit: 9).isEmpty)
            #expect(try await storage.namespace.store(ofHub: 2).jobs(limit: 9) == [Self.job(2)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Removed devices are listed page by page, from the latest notification on`(engine: Engine) async throws {
        try await engine.runHub { store in
            for sequence in Int64(1)...3 {
                _ = try await store.accept(try Samples.notification(sequence))
                let devices = (0..<4).map { number in
                    var device = Samples.device(number, outcome: .expiredChannel)
                    device.isRegistrationRemoved = number.isMultiple(of: 2)
                    return device
                }
                try await store.record(try Samples.ended(sequence, after: sequence, devices: devices))
            }
            var found: [RemovedDevice] = []
            repeat {
                let page = try await store.removedDevices(after: found.last?.position, limit: 4)
                found += page
                if page.count < 4 { break }
            } while true
            #expect(found.map(\.notificationID) == [3, 3, 2, 2, 1, 1].map { "notification-\($0)" })
            #expect(found.map(\.position.ordinal) == [2, 0, 2, 0, 2, 0])
            #expect(found.first?.time == HubBench.startTime + .seconds(3))
            #expect(found.first?.device.handle == .phone(2))
            #expect(found.allSatisfy { $0.device.isRegistrationRemoved })
        }
    }
}
