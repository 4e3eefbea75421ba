import PushModel
import Support
import Testing

@testable import Storage

// Results of devices, which traces read too, and jobs.
extension VersionContent {
    func expectOutcomes(in store: any HubStore) async throws {
        let expected: [Int64: [RecordedOutcome]] = [
            1: completedOutcomes, 4: deferredOutcomes, 6: directOutcomes, 9: version >= .causes ? causedOutcomes : [],
        ]
        for sequence in 1...9 as ClosedRange<Int64> {
            let outcomes = expected[sequence, default: []]
            #expect(try await store.devices(ofNotification: sequence, from: 0, limit: 9) == outcomes.map(\.device), "\(sequence)")
            #expect(try await store.outcomes(ofNotification: sequence, matching: nil, limit: 9) == outcomes, "\(sequence)")
            #expect(try await store.tally(ofNotification: sequence).counts.count == outcomes.count, "\(sequence)")
        }
        let invalid = completedOutcomes[1]
        let position = RemovedDevice.Position(sequence: 1, ordinal: 1)
        let removed = RemovedDevice(position: position, notificationID: Self.id(1), time: Self.at(23), device: invalid.device)
        #expect(try await store.removedDevices(after: nil, limit: 9) == [removed])
        #expect(try await store.removedDevices(after: position, limit: 9) == [])
        for query in [
            DeviceOutcomeQuery(registrations: [Samples.id(13)]), DeviceOutcomeQuery(handles: [.phone(13)]),
        ] {
            #expect(try await store.outcomes(ofNotification: 1, matching: query, limit: 9) == [invalid])
        }
    }

    /// Versions before `departures` did not store the times of results.
    private func outcome(_ device: DeviceOutcome, at milliseconds: Int64) -> RecordedOutcome {
        RecordedOutcome(device: device, time: version >= .departures ? Self.at(milliseconds: milliseconds) : nil)
    }

    private var completedOutcomes: [RecordedOutcome] {
        let phone = DeviceOutcome(
            device: OutcomeDevice(
                registrationID: Samples.id(1), installationID: "ana-1", platform: .apns, handle: .phone(1), templateName: "alert"),
            outcome: .success, reason: "", cause: .accepted, pushID: "0a000000-0000-0000-0000-00000000000f", size: 30,
            isRegistrationRemoved: false)
        let invalid = DeviceOutcome(
            device: OutcomeDevice(registrationID: Samples.id(13), platform: .apns, handle: .phone(13), templateName: nil),
            outcome: .wrongToken, reason: "Unregistered", cause: .text("the device token is inactive"), pushID: nil, size: 30,
            isRegistrationRemoved: true)
        let tile = DeviceOutcome(
            device: OutcomeDevice(
                registrationID: Samples.id(4), installationID: "pc", platform: .wns, handle: Self.tile, templateName: "t"),
            outcome: .skipped, reason: "", cause: .duplicate, pushID: "push 1", size: 0,
            isRegistrationRemoved: false)
        var others: [DeviceOutcome] = []
        if version >= .batches { others.append(Self.phone(15, .skipped, "", .removedEarly, size: 30)) }
        others += [
            Self.phone(16, .pnsUnreachable, "the connection broke", .unanswered, size: 30), Self.phone(17, .abandoned, "", .cancelled),
        ]
        if version >= .plugins { others.append(Self.phone(18, .skipped, "Hook", .ruled(Self.atNight))) }
        return [outcome(phone, at: 21_500), outcome(invalid, at: 21_500)] + ([tile] + others).map { outcome($0, at: 22_000) }
    }

    /// A result of each cause.
    private var causedOutcomes: [RecordedOutcome] {
        let devices = [
            Self.phone(21, .success, "", .accepted, size: 30), Self.phone(22, .skipped, "", .duplicate),
            Self.phone(23, .skipped, "", .removedEarly, size: 30), Self.phone(24, .abandoned, "", .cancelled),
            Self.phone(25, .pnsUnreachable, "the connection broke", .unanswered, size: 30),
            Self.phone(26, .skipped, "Hook", .ruled(Self.atNight)),
            Self.phone(27, .skipped, "Hook", .ruled(HookReason(plugin: nil, reason: "too late"))),
            Self.phone(28, .badChannel, "BadDeviceToken", .text("the device token is invalid"), size: 30),
        ]
        return devices.map { outcome($0, at: 91_500) }
    }

    private static let atNight = HookReason(plugin: "quiet", reason: "at night")

    private static func phone(
        _ number: Int, _ outcome: OutcomeName, _ reason: String, _ cause: OutcomeCause, size: Int = 0
    ) -> DeviceOutcome {
        DeviceOutcome(
            device: OutcomeDevice(registrationID: Samples.id(number), platform: .apns, handle: .phone(number), templateName: nil),
            outcome: outcome, reason: reason, cause: cause, pushID: nil, size: size, isRegistrationRemoved: false)
    }

    private var deferredOutcomes: [RecordedOutcome] {
        let browser = DeviceOutcome(
            device: OutcomeDevice(registrationID: Self.longID, platform: .browser, handle: .subscription, templateName: nil),
            outcome: .success, reason: "", cause: .accepted, pushID: nil, size: 2, isRegistrationRemoved: false)
        return [outcome(browser, at: 41_250)]
    }

    /// Written by a version that did not store times, in all databases.
    private var directOutcomes: [RecordedOutcome] {
        let phone = DeviceOutcome(
            device: OutcomeDevice(registrationID: nil, platform: .apns, handle: .phone(1), templateName: nil), outcome: .success,
            reason: "", cause: .accepted, pushID: "0A000000-0000-0000-0000-00000000000F", size: 2, isRegistrationRemoved: false)
        let browser = DeviceOutcome(
            device: OutcomeDevice(registrationID: nil, platform: .browser, handle: .subscription, templateName: nil),
            outcome: .pnsUnavailable, reason: "503", cause: .text("the push service is unavailable"), pushID: nil, size: 2,
            isRegistrationRemoved: false)
        let baidu = DeviceOutcome(
            device: OutcomeDevice(registrationID: nil, platform: .baidu, handle: Self.baidu, templateName: nil),
            outcome: .invalidCredentials, reason: "", cause: .text("no credential for Baidu"), pushID: nil, size: 0,
            isRegistrationRemoved: false)
        return [phone, browser, baidu].map { RecordedOutcome(device: $0, time: nil) }
    }

    // MARK: - Jobs

    func expectJobs(in store: any HubStore) async throws {
        let export = NotificationHubJob(
            id: "job-1", kind: .exportRegistrations, outputContainerURI: "https://store.example/out?sig=1", createdAt: Self.at(100),
            progress: NotificationHubJob.Progress(
                status: .completed, percent: 100, outputProperties: ["OutputFilePath": "out/1.txt"], updatedAt: Self.at(110)))
        let upsert = NotificationHubJob(
            id: "job-2", kind: .importUpsertRegistrations, outputContainerURI: "https://store.example/out?sig=2",
            importFileURI: "https://store.example/in?sig=3", inputProperties: ["a": "b"], createdAt: Self.at(101),
            progress: NotificationHubJob.Progress(
                status: .failed, percent: 12.34, failure: "line 7 is not a registration", updatedAt: Self.at(111)))
        let running = NotificationHubJob(
            id: "job-3", kind: .exportRegistrations, outputContainerURI: "file:///jobs", createdAt: Self.at(102),
            progress: NotificationHubJob.Progress(status: .running, percent: 0.5, updatedAt: Self.at(112)))
        #expect(try await store.jobs(limit: 9) == [running, upsert, export])
        #expect(try await store.unfinishedJobs() == [running])
    }
}
