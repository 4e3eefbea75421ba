import Support
import Testing

@testable import PushBackend
@testable import PushHub
@testable import PushModel

/// Tags that only the hub may give to devices, on every path by which tags enter a hub.
@Suite struct ReservedTagTests {
    private static let texts = ["$InstallationId:{victim-1}", "$installationid:{VICTIM-1}", "$UserId:{bob}", "$USERID:{bob}"]

    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(hooks: hooks) }

    /// Installs the device that owns these tags. Only this device may get sends to them.
    private func installVictim() async throws {
        try await hub.putInstallation(Installation(id: "victim-1", userID: "bob", handle: .phone(9)))
    }

    private func checkOnlyVictimIsReached() async throws {
        for text in Self.texts { #expect(try await bench.send(to: text).devices.map(\.handle) == [.phone(9)], "\(text)") }
    }

    @Test(arguments: ["VICTIM-1", "Victim-1"])
    func `an installation id that differs only in case is rejected, because it would have the same tag`(id: String) async throws {
        try await installVictim()
        #expect(await refusal { try await hub.putInstallation(Installation(id: id, handle: .phone(1))) }?.code == "installation.invalid")
        try await checkOnlyVictimIsReached()
        try await installVictim()
        try await hub.deleteInstallation("victim-1")
        try await hub.putInstallation(Installation(id: id, handle: .phone(1)))
        #expect(try await bench.send(to: "$InstallationId:{victim-1}").devices.map(\.handle) == [.phone(1)])
    }

    @Test(arguments: texts) func `a registration cannot have one, new or changed`(text: String) async throws {
        try await installVictim()
        let mine = try await bench.register(.phone(1), tags: ["a"])
        for tags in [[text], ["a", text], [text, text]] {
            let description = RegistrationDescription(handle: .phone(1), tags: try tags.map { try Tag($0) })
            for error in [
                await refusal { try await hub.createRegistration(description) },
                await refusal { try await hub.putRegistration(mine.id, description, ifMatch: nil) },
                await refusal { try await hub.putRegistration(mine.id, description, ifMatch: 1) },
                await refusal { try await hub.putRegistration(hub.createRegistrationID(), description, ifMatch: nil) },
                await refusal { try await hub.importRegistration(nil, description) },
            ] {
                #expect(error?.code == "tag.reserved" && error?.message == "tags cannot start with $: \"\(text)\"")
            }
        }
        #expect(try await hub.registration(mine.id) == mine)
        try await checkOnlyVictimIsReached()
    }

    @Test(arguments: texts) func `installations, their templates and tiles cannot have one, put or patched`(text: String) async throws {
        try await installVictim()
        let tag = try Tag(text)
        let template = InstallationTemplate(body: "{}", tags: [tag])
        let before = Installation(id: "pad", handle: .phone(1), templates: ["t": InstallationTemplate(body: "{}")])
        try await hub.putInstallation(before)
        for installation in [
            Installation(id: "pad", handle: .phone(1), tags: [tag]),
            Installation(id: "pad", handle: .phone(1), templates: ["t": template]),
            Installation(id: "new", handle: .phone(1), tags: [try Tag("a"), tag]),
        ] {
            #expect(await refusal { try await hub.putInstallation(installation) }?.code == "tag.reserved")
        }
        let channel = DeviceHandle.wns(channel: "https://db.notify.windows.com/?token=1")
        for tile in [
            SecondaryTile(handle: channel, tags: [tag]),
            SecondaryTile(handle: channel, templates: ["t": InstallationTemplate(body: "<toast/>", tags: [tag])]),
        ] {
            let tiled = Installation(id: "new", handle: channel, secondaryTiles: ["s": tile])
            #expect(await refusal { try await hub.putInstallation(tiled) }?.code == "tag.reserved")
        }
        let path = text.replacing("~", with: "~0")
        for operation in [
            PatchOperation(.add, "/tags", .string(text)), .init(.add, "/tags/-", .string(text)), .init(.add, "/tags/\(path)"),
            .init(.add, "/tags/0", .string(text)), .init(.replace, "/tags", [.string(text)]), .init(.replace, "/tags/x", .string(text)),
            .init(.add, "/templates/t/tags", .string(text)), .init(.add, "/templates/t/tags/\(path)"),
            .init(.add, "/templates/u", ["body": "{}", "tags": [.string(text)]]),
            .init(.add, "/templates", ["u": ["body": "{}", "tags": [.string(text)]]]),
        ] {
            let error = await refusal { try await hub.patchInstallation("pad", [operation]) }
            #expect(error?.code == "tag.reserved", "\(operation)")
        }
        #expect(try await hub.installation("pad").tags.isEmpty)
        try await checkOnlyVictimIsReached()
    }

    @Test(arguments: texts) func `the name of a template does not become one`(text: String) async throws {
        try await installVictim()
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(1), templates: [text: InstallationTemplate(body: "{}")]))
        try await hub.patchInstallation("pad", [.init(.add, "/templates/\(text)", ["body": "{}", "tags": [.string(text)]])])
        #expect(try await hub.installation("pad").templates[text]?.tags == [])
        #expect(try await hub.send(.properties(["a": "x"], to: text)).state == .noTargetFound)
        try await checkOnlyVictimIsReached()
    }

    @Test(arguments: texts) func `a hook cannot give one`(text: String) async throws {
        let tag = try Tag(text)
        hooks.onRegistering { draft in
            var draft = draft
            draft.tags.append(tag)
            return draft
        }
        #expect(await refusal { try await bench.register(.phone(1)) }?.code == "tag.reserved")
        #expect(await refusal { try await hub.putInstallation(Installation(id: "pad", handle: .phone(1))) }?.code == "tag.reserved")
        let draft = RegistrationDraft(
            hub: "hub", subject: RegistrationDraft.Subject(.registration, id: "1-2-3", platform: .apns), tags: [tag], isNew: true)
        #expect(await refusal { try draft.verified() }?.code == "tag.reserved")
        #expect(await hub.size().registrations == 0)
    }

    @Test(arguments: texts) func `the app backend gives none, whatever the name of a device or user`(text: String) async throws {
        try await installVictim()
        let session = try await bench.login("eve")
        let id = try await bench.backend.registrationID(session, handle: .phone(1))
        let description = RegistrationDescription(handle: .phone(1), tags: [try Tag(text)])
        #expect(await refusal { try await bench.backend.putRegistration(session, id, description) }?.code == "backend.reserved_tag")
        #expect(
            await refusal { try await bench.backend.registerCurrentUser(session, installationID: text, handle: .phone(1)) }?.code
                == "backend.installation_id")
        #expect(await refusal { try await bench.login(text) }?.status == 400)
        try await checkOnlyVictimIsReached()
    }

    @Test(arguments: texts) func `a dry run of a plan rejects it too`(text: String) async throws {
        let planning = PlanningHub(hub, clock: bench.clock, random: bench.random, simulatesRegistrations: true)
        let description = RegistrationDescription(handle: .phone(1), tags: [try Tag(text)])
        #expect(await refusal { try await planning.createRegistration(description) }?.code == "tag.reserved")
    }

    // MARK: - Ids that differ only in case

    @Test func `of two installations written at once whose ids differ only in case, one is stored`() async throws {
        // Hooks run between the check of the id and the commit.
        hooks.onRegistering { draft in
            for _ in 1...20 { await Task.yield() }
            return draft
        }
        for number in 1...50 {
            async let lower = refusal { try await hub.putInstallation(Installation(id: "pad-\(number)", handle: .phone(number))) }
            async let upper = refusal { try await hub.putInstallation(Installation(id: "PAD-\(number)", handle: .phone(100 + number))) }
            #expect(await [lower, upper].compactMap { $0?.code } == ["installation.invalid"])
            #expect(try await bench.send(to: "$InstallationId:{pad-\(number)}").sent == 1)
        }
    }

    @Test func `an installation with an expired channel keeps its tag from ids that differ only in case`() async throws {
        try await installVictim()
        bench.connector.script(.phone(9), .rejected(.invalidHandle()))
        #expect(try await bench.send(to: Self.texts[0]).removedCount == 1)
        #expect(try await hub.installation("victim-1").isPushChannelExpired)
        for id in ["VICTIM-1", "Victim-1"] {
            let error = await refusal { try await hub.putInstallation(Installation(id: id, handle: .phone(1))) }
            #expect(error?.code == "installation.invalid")
        }
        bench.connector.script(.phone(9), .accepted(id: nil))
        #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 1))
        try await checkOnlyVictimIsReached()
    }

    @Test func `of stored installations whose ids differ only in case, the first has the tag`() async throws {
        try await installVictim()
        let other = Installation(id: "VICTIM-1", handle: .phone(1), tags: [try Tag("a")])
        let id = try #require(RegistrationID("1-2-3"))
        try await bench.store.commit(
            RegistrationChange(
                puts: [
                    RegistrationRow(
                        row: 100,
                        registration: Registration(
                            id: id, etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
                            description: RegistrationDescription(
                                handle: .phone(1), tags: [try Tag("a"), try Tag("$InstallationId:{VICTIM-1}")]),
                            installationID: "VICTIM-1"))
                ], installationPuts: [InstallationRow(row: 100, installation: other, expiration: .distantFuture)]))
        let hub = try await bench.reopened()
        let warnings = bench.events.filter(\.isWarning).map(\.text)
        #expect(warnings.count == 1 && warnings[0].contains("1 installation differs from"), "\(warnings)")
        #expect(warnings.first?.contains(": \"VICTIM-1\"; ") == true)
        try await checkOnlyVictimIsReached(by: hub)
        #expect(try await hub.send(.alert(to: "a")).devices.map(\.handle) == [.phone(1)])
        #expect(try await hub.registration(id).tags.map(\.text) == ["a"])
        // The first can be changed, the second only deleted.
        try await hub.putInstallation(Installation(id: "victim-1", userID: "bob", handle: .phone(9)))
        for error in [
            await refusal { try await hub.putInstallation(other) },
            await refusal { try await hub.patchInstallation("VICTIM-1", [.init(.add, "/tags", "b")]) },
        ] { #expect(error?.code == "installation.invalid") }
        try await checkOnlyVictimIsReached(by: hub)
        // Without the first, the second gets the tag when it is written.
        try await hub.deleteInstallation("victim-1")
        #expect(try await hub.send(.alert(to: Self.texts[0])).state == .noTargetFound)
        try await hub.patchInstallation("VICTIM-1", [.init(.add, "/tags", "b")])
        #expect(try await hub.send(.alert(to: Self.texts[0])).devices.map(\.handle) == [.phone(1)])
        let again = Installation(id: "victim-1", handle: .phone(9))
        #expect(await refusal { try await hub.putInstallation(again) }?.code == "installation.invalid")
    }

    @Test func `a channel is not restored to an installation whose tag another one has`() async throws {
        try await installVictim()
        let other = Installation(id: "VICTIM-1", handle: .phone(1)).expiring(.phone(1))
        var change = RegistrationChange(installationPuts: [InstallationRow(row: 100, installation: other, expiration: .distantFuture)])
        change.pruned = [
            PrunedDevice(
                .installation(id: "VICTIM-1", userID: nil, tags: []), handle: .phone(1), reason: "Unregistered", notificationID: "n",
                time: HubBench.startTime)
        ]
        try await bench.store.commit(change)
        let hub = try await bench.reopened()
        #expect(try await hub.restore(PrunedFilter()) == Restoration(unfit: 1))
        try await checkOnlyVictimIsReached(by: hub)
        try await hub.deleteInstallation("victim-1")
        #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 1))
        #expect(try await hub.send(.alert(to: Self.texts[0])).devices.map(\.handle) == [.phone(1)])
    }

    // MARK: - Rows of older versions

    @Test func `reserved tags stored by older versions match nothing, and are removed by the next write`() async throws {
        try await installVictim()
        func placed(_ row: UInt32, _ number: Int, _ tags: [String], installation: String? = nil) throws -> RegistrationRow {
            let id = try #require(RegistrationID("\(number)-2-3"))
            return RegistrationRow(
                row: row,
                registration: Registration(
                    id: id, etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
                    description: RegistrationDescription(handle: .phone(number), tags: try tags.map { try Tag($0) }),
                    installationID: installation))
        }
        let forged = try placed(100, 101, ["news", "$InstallationId:{victim-1}", "$UserId:{bob}"])
        let only = try placed(101, 102, ["$userid:{BOB}"])
        let pad = Installation(
            id: "pad", handle: .phone(103), tags: [try Tag("a"), try Tag("$UserId:{bob}")],
            templates: ["t": InstallationTemplate(body: "{}", tags: [try Tag("$UserId:{bob}")])])
        try await bench.store.commit(
            RegistrationChange(
                puts: [forged, only, try placed(102, 103, ["a", "$InstallationId:{pad}"], installation: "pad")],
                installationPuts: [InstallationRow(row: 100, installation: pad, expiration: .distantFuture)]))
        let hub = try await bench.reopened()
        let warning = bench.events.last(where: \.isWarning)?.text
        #expect(warning?.hasPrefix("hub \"hub\": 3 stored registrations or installations have tags that start with $") == true)
        for text in Self.texts { #expect(try await hub.send(.alert(to: text)).devices.map(\.handle) == [.phone(9)], "\(text)") }
        #expect(try await hub.send(.alert(to: "news")).sent == 1)
        // They are not shown either, in a single registration or in a list.
        #expect(try await hub.registration(forged.registration.id).tags.map(\.text) == ["news"])
        #expect(try await hub.registrations(.tag(Tag("$UserId:{bob}")), page: Page()).registrations.map(\.handle) == [.phone(9)])
        #expect(try await hub.installations(.user("bob"), page: Page()).installations.map(\.id) == ["victim-1"])
        #expect(try await hub.installation("pad").tags.map(\.text) == ["a"])
        // The device can be changed and removed.
        try await hub.patchInstallation("pad", [.init(.add, "/tags", "b")])
        #expect(try await hub.send(.alert(to: "a && b")).devices.map(\.handle) == [.phone(103)])
        let again = RegistrationDescription(handle: .phone(101), tags: [try Tag("sports")])
        #expect(try await hub.putRegistration(forged.registration.id, again, ifMatch: 1).etag == 2)
        try await hub.deleteRegistration(only.registration.id, ifMatch: nil)
        #expect(try await hub.send(.alert(to: "news")).state == .noTargetFound)
        #expect(try await hub.send(.alert(to: "sports")).sent == 1)
        let events = bench.events.filter(\.isWarning).count
        _ = try await bench.reopened()
        #expect(bench.events.filter(\.isWarning).count == events)
    }

    @Test func `registrations of an installation match the installation's tags, whatever tags their rows have`() async throws {
        try await installVictim()
        func placed(_ row: UInt32, _ number: Int, _ tags: [String], of installation: String) throws -> RegistrationRow {
            RegistrationRow(
                row: row,
                registration: Registration(
                    id: try #require(RegistrationID("\(number)-2-3")), etag: 3, expiration: .distantFuture, updatedAt: HubBench.startTime,
                    description: RegistrationDescription(handle: .phone(number), tags: try tags.map { try Tag($0) }),
                    installationID: installation))
        }
        func installed(_ row: UInt32, _ id: String, _ user: String?, _ number: Int) -> InstallationRow {
            InstallationRow(
                row: row, installation: Installation(id: id, userID: user, handle: .phone(number)), expiration: .distantFuture)
        }
        // The installation of the last one does not exist.
        try await bench.store.commit(
            RegistrationChange(
                puts: [
                    try placed(100, 101, ["$InstallationId:{victim-1}", "a", "$UserId:{bob}", "$InstallationId:{PAD}"], of: "pad"),
                    try placed(101, 102, ["$installationid:{tab}", "$UserId:{bob}", "$UserId:{EVE}"], of: "tab"),
                    try placed(102, 103, ["b", "$InstallationId:{right}", "$UserId:{ana}"], of: "right"),
                    try placed(103, 104, ["$InstallationId:{gone}", "$UserId:{bob}"], of: "gone"),
                ],
                installationPuts: [
                    installed(100, "pad", nil, 101), installed(101, "tab", "eve", 102), installed(102, "right", "ana", 103),
                ]))
        let hub = try await bench.reopened()
        let warning = bench.events.last(where: \.isWarning)?.text
        #expect(warning?.hasPrefix("hub \"hub\": 3 stored registrations or installations have tags that start with $") == true)
        for text in Self.texts { #expect(try await hub.send(.alert(to: text)).devices.map(\.handle) == [.phone(9)], "\(text)") }
        for (text, number) in [
            ("a && $InstallationId:{pad}", 101), ("$InstallationId:{tab} && $UserId:{eve}", 102),
            ("b && $InstallationId:{right} && $UserId:{ana}", 103), ("$InstallationId:{gone}", 104),
        ] { #expect(try await hub.send(.alert(to: text)).devices.map(\.handle) == [.phone(number)], "\(text)") }
        // They are not shown either.
        #expect(
            try await hub.registration(try #require(RegistrationID("101-2-3"))).tags.map(\.text) == ["a", "$InstallationId:{PAD}"])
        // Tags that the hub gives later match, and can be removed again.
        try await hub.patchInstallation("pad", [.init(.add, "/userId", "bob")])
        #expect(Set(try await hub.send(.alert(to: "$UserId:{bob}")).devices.map(\.handle)) == [.phone(9), .phone(101)])
        try await hub.patchInstallation("pad", [.init(.remove, "/userId")])
        try await hub.deleteInstallation("tab")
        try await checkOnlyVictimIsReached(by: hub)
        #expect(try await hub.send(.alert(to: "$UserId:{eve}")).state == .noTargetFound)
    }

    private func checkOnlyVictimIsReached(by hub: NotificationHub) async throws {
        for text in Self.texts { #expect(try await hub.send(.alert(to: text)).devices.map(\.handle) == [.phone(9)], "\(text)") }
    }

    @Test func `a restored device has none of them`() async throws {
        try await installVictim()
        let id = try #require(RegistrationID("1-2-3"))
        let forged = Registration(
            id: id, etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(handle: .phone(1), tags: [try Tag("news"), try Tag("$UserId:{bob}")]))
        var change = RegistrationChange(puts: [RegistrationRow(row: 50, registration: forged)])
        try await bench.store.commit(change)
        change = RegistrationChange(
            removals: [
                RemovedRegistration(
                    row: 50, id: id,
                    tombstone: RegistrationTombstone(
                        .invalidHandle(InvalidHandleReport(.apns, reason: "Unregistered")), at: HubBench.startTime))
            ])
        change.pruned = [
            PrunedDevice(.registration(forged), handle: .phone(1), reason: "Unregistered", notificationID: "n", time: HubBench.startTime)
        ]
        try await bench.store.commit(change)
        let hub = try await bench.reopened()
        #expect(try await hub.restore(PrunedFilter()) == Restoration(restored: 1))
        #expect(try await hub.registration(id).tags.map(\.text) == ["news"])
        #expect(try await hub.send(.alert(to: "$UserId:{bob}")).devices.map(\.handle) == [.phone(9)])
    }
}
