import PushHub
import PushModel
import Support
import Testing

/// Devices that were pruned, and their restoration.
@Suite struct PrunedDeviceTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench() }

    private func script(_ numbers: ClosedRange<Int>, _ verdict: Verdict) {
        for number in numbers { bench.connector.script(.phone(number), verdict) }
    }

    @Test func `devices pruned by a notification are restored in one call, and get the next notification`() async throws {
        var registrations: [Registration] = []
        for number in 1...1200 { registrations.append(try await bench.register(.phone(number), tags: ["all", "t\(number % 3)"])) }
        script(1...1100, .rejected(.invalidHandle()))
        let outcome = try await bench.send(to: "all")
        #expect(outcome.pruned == [.apns: ["Unregistered": 1100]])
        #expect(await hub.size().registrations == 100)
        let listed = try await hub.pruned(PrunedFilter(notificationID: outcome.id), below: nil, limit: 2000)
        #expect(listed.count == 1100 && listed.last?.subject == .registration(registrations[0]))

        let filter = PrunedFilter(notificationID: outcome.id)
        #expect(try await hub.restore(filter, isDryRun: true) == Restoration(restored: 1100))
        #expect(await hub.size().registrations == 100)
        #expect(try await hub.restore(filter) == Restoration(restored: 1100))
        #expect(await hub.size().registrations == 1200)
        #expect(try await hub.restore(filter) == Restoration())
        let back = try await hub.registration(registrations[0].id)
        #expect(back.tags == registrations[0].tags && back.etag == 2 && back.updatedAt == registrations[0].updatedAt)
        script(1...1100, .accepted(id: nil))
        #expect(try await bench.send(to: "t1").sent == 400)
        // The next process finds the same state.
        #expect(try await bench.reopened().size().registrations == 1200)
    }

    @Test func `a restored token that is still invalid is pruned again, also if the service gives a time`() async throws {
        try await bench.register(.phone(1))
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(2)))
        script(1...2, .rejected(.invalidHandle(since: HubBench.startTime + .seconds(1))))
        bench.advance(by: .seconds(10))
        for _ in 1...3 {
            #expect(try await bench.send(to: nil).pruned == [.apns: ["Unregistered": 2]])
            #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 2))
        }
    }

    @Test func `devices that registered again are left unchanged`() async throws {
        let old = try await bench.register(.phone(1), tags: ["old"])
        try await bench.register(.phone(2))
        script(1...2, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        bench.advance(by: .seconds(60))
        try await bench.register(.phone(1), tags: ["new"])
        #expect(try await hub.restore(PrunedFilter(), isDryRun: true) == Restoration(restored: 1, registeredAgain: 1))
        #expect(try await hub.restore(PrunedFilter(reason: "Unregistered")) == Restoration(restored: 1, registeredAgain: 1))
        #expect(await refusal { try await hub.registration(old.id) }?.code == "hub.not_found")
        #expect(try await hub.registrations(.handle(.phone(1)), page: Page()).registrations.map { $0.tags.map(\.text) } == [["new"]])
    }

    @Test func `of several pruned devices with the same handle the last one is restored, in one step or in several`() async throws {
        let first = try await bench.register(.phone(1), tags: ["old"])
        try await hub.putInstallation(Installation(id: "old", handle: .phone(2)))
        script(1...1100, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        for others in [[], Array(3...1100)] {
            bench.advance(by: .seconds(60))
            let last = try await bench.register(.phone(1), tags: ["new"])
            for other in others { try await bench.register(.phone(other)) }
            try await hub.putInstallation(Installation(id: "new", handle: .phone(2)))
            bench.advance(by: .seconds(60))
            try await bench.send(to: nil)
            #expect(await hub.size().registrations == 0)
            let back = Restoration(restored: 2 + others.count, registeredAgain: 2)
            let dryRun = try await hub.restore(PrunedFilter(), isDryRun: true)
            #expect(dryRun == back)
            let restored = try await hub.restore(PrunedFilter())
            #expect(restored == back)
            #expect(try await hub.registrations(.handle(.phone(1)), page: Page()).registrations.map(\.id) == [last.id])
            #expect(try await hub.installation("old").isPushChannelExpired == true)
            // An older one can still be restored by its id.
            try await hub.deleteRegistration(last.id, ifMatch: nil)
            try await bench.send(to: nil)
        }
        #expect(try await hub.restore(PrunedFilter(id: first.id.text)).restored == 1)
    }

    @Test func `registrations that share a handle are restored together`() async throws {
        try await bench.register(.phone(1))
        try await bench.register(.phone(1), template: #"{"aps":{"alert":"$(m)"}}"#)
        script(1...1, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        #expect(await hub.size().registrations == 0)
        #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 2))
        script(1...1, .accepted(id: nil))
        #expect(try await hub.send(.properties(["m": "x"])).sent == 1)
    }

    @Test func `an installation gets its channel and its templates back, unless its app has set another channel`() async throws {
        for (id, phone) in [("a", 1), ("b", 2), ("c", 3)] {
            try await hub.putInstallation(
                Installation(
                    id: id, userID: "ana", handle: .phone(phone), tags: [try Tag("news")],
                    templates: ["t": InstallationTemplate(body: #"{"aps":{"alert":"$(m)"}}"#)]))
        }
        script(1...3, .rejected(.invalidHandle("ExpiredToken")))
        try await bench.send(to: "news")
        #expect(await hub.size().registrations == 0)
        try await hub.putInstallation(Installation(id: "b", handle: .phone(22)))
        try await hub.deleteInstallation("c")
        let pruned = try await hub.pruned(PrunedFilter(), below: nil, limit: 9)
        #expect(pruned.map(\.id) == ["c", "b", "a"] && pruned[2].userID == "ana" && pruned[2].tags.map(\.text) == ["news"])
        #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 1, registeredAgain: 1, unrestorable: 1))
        #expect(try await hub.installation("a").isPushChannelExpired == false)
        script(1...3, .accepted(id: nil))
        #expect(try await hub.send(.properties(["m": "x"], to: "$UserId:{ana}")).sent == 1)
        #expect(try await bench.send(to: "$InstallationId:{a}").sent == 1)
    }

    @Test func `an installation does not get back a handle that another one has registered since`() async throws {
        for id in ["old", "other"] {
            try await hub.putInstallation(Installation(id: id, handle: .phone(id == "old" ? 1 : 2), tags: [try Tag("news")]))
        }
        script(1...2, .rejected(.invalidHandle()))
        try await bench.send(to: "news")
        bench.advance(by: .seconds(60))
        // The app was reinstalled: a new id on the same device.
        try await hub.putInstallation(Installation(id: "new", handle: .phone(1), tags: [try Tag("news")]))
        let expected = Restoration(restored: 1, registeredAgain: 1)
        #expect(try await hub.restore(PrunedFilter(), isDryRun: true) == expected)
        #expect(try await hub.restore(PrunedFilter()) == expected)
        #expect(try await hub.installation("old").isPushChannelExpired)
        #expect(try await hub.pruned(PrunedFilter(), below: nil, limit: 9).map(\.id) == ["old"])
        script(1...2, .accepted(id: nil))
        #expect(try await bench.send(to: "news").counts == [.apns: [.success: 2]])
    }

    @Test func `an installation that is stored in an invalid form is counted and stays pruned`() async throws {
        for (id, phone) in [("bad", 1), ("good", 2)] { try await hub.putInstallation(Installation(id: id, handle: .phone(phone))) }
        script(1...2, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        // As if the file had been edited: a template that cannot be parsed.
        var stored = try #require(try await bench.store.installations(at: [0]).first)
        #expect(stored.installation.id == "bad" && stored.installation.isPushChannelExpired)
        stored.installation.templates = ["t": InstallationTemplate(body: #"{"aps":{"alert":"$(m"}}"#)]
        try await bench.store.commit(RegistrationChange(installationPuts: [stored]))

        let expected = Restoration(restored: 1, unfit: 1)
        #expect(try await hub.restore(PrunedFilter(), isDryRun: true) == expected)
        #expect(try await hub.restore(PrunedFilter()) == expected)
        #expect(bench.notes(.feedback).contains { $0.hasPrefix("installation bad cannot be restored as stored: ") })
        #expect(try await hub.pruned(PrunedFilter(), below: nil, limit: 9).map(\.id) == ["bad"])
        #expect(try await bench.store.installations(at: [0]) == [stored])
        let again = try await bench.reopened()
        #expect(await again.size().registrations == 1)
        // Once its app has corrected it, it can be restored.
        try await again.putInstallation(Installation(id: "bad", handle: .phone(1)))
        #expect(try await again.restore(PrunedFilter()) == Restoration(restored: 1))
        #expect(await again.size().registrations == 2)
    }

    @Test func `an expired installation that is not deleted yet is not restored`() async throws {
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(1), expiration: HubBench.startTime + .seconds(60)))
        script(1...1, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        bench.advance(by: .seconds(60))
        #expect(try await hub.restore(PrunedFilter()) == Restoration(unrestorable: 1))
    }

    @Test func `both channels of an installation are restored, or neither if the step cannot be stored`() async throws {
        let tile = SecondaryTile(handle: .wns(channel: "https://db5.notify.windows.com/?token=tile"))
        let main = DeviceHandle.wns(channel: "https://db5.notify.windows.com/?token=main")
        try await hub.putInstallation(Installation(id: "pc", handle: main, secondaryTiles: ["t": tile]))
        for handle in [main, tile.handle] { bench.connector.script(handle, .rejected(.invalidHandle())) }
        try await bench.send(to: nil)
        #expect(await hub.size().registrations == 0)
        bench.store.refuse([.commit])
        let dryRun = try await hub.restore(PrunedFilter(), isDryRun: true)
        #expect(dryRun == Restoration(restored: 2))
        #expect(await refusal { try await hub.restore(PrunedFilter()) }?.details["restored"] == 0)
        #expect(await hub.size().registrations == 0)
        #expect(try await hub.pruned(PrunedFilter(), below: nil, limit: 9).count == 2)
        bench.store.refuse([])
        #expect(try await hub.restore(PrunedFilter()) == dryRun)
        #expect(try await bench.reopened().size().registrations == 2)
    }

    @Test func `an incomplete dry run does not say that devices were restored`() async throws {
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(501)))
        script(1...501, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        for number in 1...500 { try await bench.register(.phone(number)) }
        try await bench.send(to: nil)
        // The first step reads no row. The second one reads the row of the installation.
        bench.store.refuse([.rows])
        let error = await refusal { try await hub.restore(PrunedFilter(), isDryRun: true) }
        #expect(error?.details["restored"] == 0 && error?.message.contains("are back") == false)
    }

    @Test func `after a day no device can be restored`() async throws {
        try await bench.register(.phone(1))
        script(1...1, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        bench.advance(by: .seconds(86_400))
        #expect(try await hub.restore(PrunedFilter(), isDryRun: true) == Restoration(restored: 1))
        bench.advance(by: .milliseconds(1))
        #expect(try await hub.restore(PrunedFilter()) == Restoration())
        try await hub.removeOld(notificationsBefore: HubBench.startTime, tombstonesBefore: HubBench.startTime)
        #expect(try await bench.store.pruned(PrunedFilter(), below: nil, limit: 9).isEmpty)
    }

    @Test func `a registration that would have expired meanwhile is not restored`() async throws {
        let bench = try HubBench(registrationTTL: .seconds(3600))
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        bench.advance(by: .seconds(3600))
        #expect(try await bench.hub.restore(PrunedFilter()) == Restoration(unrestorable: 1))
    }

    @Test func `a step that cannot be stored changes nothing, and the error says so`() async throws {
        try await bench.register(.phone(1))
        script(1...1, .rejected(.invalidHandle()))
        try await bench.send(to: nil)
        bench.store.refuse([.commit])
        let error = await refusal { try await hub.restore(PrunedFilter()) }
        #expect(error?.status == 503 && error?.details["restored"] == 0)
        #expect(await hub.size().registrations == 0)
        bench.store.refuse([])
        #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 1))
        #expect(try await bench.store.load().registrations.count == 1)
    }

    @Test func `if the removal is not stored, no device is pruned`() async throws {
        try await bench.register(.phone(1))
        script(1...1, .rejected(.invalidHandle()))
        bench.store.refuse([.commit])
        let outcome = try await bench.send(to: nil)
        #expect(outcome.pruned.isEmpty)
        #expect(try await hub.pruned(PrunedFilter(), below: nil, limit: 9).isEmpty)
    }
}
