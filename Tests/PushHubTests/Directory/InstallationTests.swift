import PushHub
import PushModel
import Support
import Testing

@Suite struct InstallationTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(registrationTTL: .seconds(3600)) }

    private func installation(_ id: String = "pad", number: Int = 1) throws -> Installation {
        Installation(
            id: id, userID: "alice", handle: .phone(number), tags: [try Tag("Sports")],
            pushVariables: ["name": "Alice"],
            templates: ["news": InstallationTemplate(body: #"{"aps":{"alert":"{$(name) + ': ' + $(text)}"}}"#)])
    }

    @Test("An installation is read back as written, with its expiry and each template's own tag") func readBack()
        async throws
    {
        var written = try installation()
        try await hub.putInstallation(written)
        written.expiration = bench.clock.now + .seconds(3600)
        written.updatedAt = bench.clock.now
        written.templates["news"]?.tags = [try Tag("news")]
        #expect(try await hub.installation("pad") == written)
    }

    @Test("An installation is reached through its id, its user, its tags and its templates") func targets() async throws {
        try await hub.putInstallation(try installation())
        for expression in ["$InstallationId:{pad}", "$UserId:{alice}", "$userid:{ALICE}", "Sports"] {
            #expect(try await bench.send(to: expression).sent == 1)
            #expect(try await hub.send(.properties(["text": "Hi"], to: expression)).sent == 1)
        }
        #expect(try await bench.send(to: "news").state == .noTargetFound)
        #expect(try await hub.send(.properties(["text": "Hi"], to: "news")).devices.first?.templateName == "news")
        #expect(bench.connector.bodies.last == #"{"aps":{"alert":"Alice: Hi"}}"#)
    }

    @Test("A user's devices are reached together") func user() async throws {
        try await hub.putInstallation(try installation("pad", number: 1))
        try await hub.putInstallation(try installation("phone", number: 2))
        #expect(try await bench.send(to: "$UserId:{alice}").sent == 2)
        #expect(try await bench.send(to: "$UserId:{alice} && !$InstallationId:{pad}").sent == 1)
    }

    @Test("An installation is listed as registrations") func lists() async throws {
        try await hub.putInstallation(try installation())
        let found = try await hub.registrations(.tag(Tag.installation("pad")), page: Page()).registrations
        #expect(found.map(\.template?.name) == [nil, "news"])
        #expect(found[0].tags.map(\.text) == ["Sports", "$InstallationId:{pad}", "$UserId:{alice}"])
        #expect(found[1].tags.map(\.text) == ["Sports", "news", "$InstallationId:{pad}", "$UserId:{alice}"])
    }

    @Test("An installation's registrations cannot be written or deleted one by one") func ownership() async throws {
        try await hub.putInstallation(try installation())
        let native = try await hub.registrations(.all, page: Page()).registrations[0]
        let put = await refusal {
            try await hub.putRegistration(native.id, RegistrationDescription(handle: .phone(9)), ifMatch: nil)
        }
        let deletion = await refusal { try await hub.deleteRegistration(native.id, ifMatch: nil) }
        for error in [put, deletion] {
            #expect(error?.code == "hub.installation")
            #expect(error?.message == "registration \(native.id) belongs to the installation pad; not changed")
            #expect(error?.status == 409)
        }
    }

    @Test("Putting an installation again overwrites it, and unchanged targets keep their ids") func overwrite() async throws {
        try await hub.putInstallation(try installation())
        let before = try await hub.registrations(.all, page: Page()).registrations
        var changed = try installation(number: 2)
        changed.tags = []
        changed.templates = ["world": InstallationTemplate(body: "{}", tags: [try Tag("w")])]
        try await hub.putInstallation(changed)
        let after = try await hub.registrations(.all, page: Page()).registrations
        #expect(after.count == 2)
        #expect(after[0].id == before[0].id && after[0].etag == 2 && after[0].handle == .phone(2))
        #expect(try await bench.send(to: "Sports").state == .noTargetFound)
        let error = await refusal {
            try await hub.putRegistration(before[1].id, RegistrationDescription(handle: .phone(1)), ifMatch: nil)
        }
        #expect(error?.message == "registration id \(before[1].id) was removed by a change of its installation")
    }

    @Test("A patch changes one member and its targets") func patch() async throws {
        try await hub.putInstallation(try installation())
        try await hub.patchInstallation(
            "pad",
            [.init(.add, "/tags", "World"), .init(.replace, "/pushChannel", .string(DeviceHandle.phone(5).text))])
        let outcome = try await bench.send(to: "World")
        #expect(outcome.devices.map(\.handle) == [.phone(5)])
        #expect(try await hub.installation("pad").handle == .phone(5))
    }

    @Test("A patch that fails, early or late, changes nothing") func atomicPatch() async throws {
        try await hub.putInstallation(try installation())
        let before = try await hub.installation("pad")
        let targets = try await hub.registrations(.all, page: Page())
        let patches: [([PatchOperation], String)] = [
            ([.init(.add, "/tags", "World"), .init(.add, "/nonsense", "x")], "installation.patch"),
            ([.init(.add, "/tags", "World"), .init(.replace, "/templates/news/body", "{")], "template.document"),
            ([.init(.add, "/tags", "World"), .init(.replace, "/userId", "a b")], "installation.invalid"),
            ([.init(.add, "/tags", "World"), .init(.add, "/tags", "$UserId:{mallory}")], "tag.reserved"),
            (
                [
                    .init(.replace, "/pushChannel", .string(DeviceHandle.phone(5).text)),
                    .init(.add, "/templates/x", ["body": "x"]),
                ],
                "template.format"
            ),
        ]
        for (patch, code) in patches {
            #expect(await refusal { try await hub.patchInstallation("pad", patch) }?.code == code)
        }
        #expect(try await hub.installation("pad") == before)
        #expect(try await hub.registrations(.all, page: Page()) == targets)
    }

    @Test("A patch of an unknown installation is rejected") func unknown() async {
        for error in [
            await refusal { try await hub.patchInstallation("tv", []) },
            await refusal { try await hub.installation("tv") },
        ] {
            #expect(error?.code == "hub.not_found")
            #expect(error?.message == "unknown installation \"tv\"")
            #expect(error?.status == 404)
        }
    }

    @Test("Deleting removes every target, and can be repeated") func deletion() async throws {
        try await hub.putInstallation(try installation())
        try await hub.deleteInstallation("pad")
        try await hub.deleteInstallation("pad")
        #expect(try await hub.registrations(.all, page: Page()).registrations.isEmpty)
        #expect(await refusal { try await hub.installation("pad") }?.code == "hub.not_found")
    }

    @Test("An id or a user that is not a valid tag is rejected", arguments: ["", "a b", "a}", "ä{"])
    func invalidIDs(text: String) async throws {
        var byID = try installation(text)
        #expect(await refusal { try await hub.putInstallation(byID) }?.code == "installation.invalid")
        byID.id = "pad"
        byID.userID = text
        #expect(await refusal { try await hub.putInstallation(byID) }?.code == "installation.invalid")
    }

    @Test("Too many templates or tiles are rejected before anything else, and change nothing") func tooMany() async throws {
        func templates(_ numbers: Range<Int>) -> [String: InstallationTemplate] {
            // None of these templates is valid.
            Dictionary(uniqueKeysWithValues: numbers.map { ("t\($0)", InstallationTemplate(body: "{")) })
        }
        func tile(_ number: Int, _ templates: [String: InstallationTemplate] = [:]) -> SecondaryTile {
            SecondaryTile(handle: .wns(channel: "https://db.notify.windows.com/\(number)"), templates: templates)
        }
        var pad = try installation()
        pad.templates = templates(0..<101)
        var windows = Installation(
            id: "pad", handle: .wns(channel: "https://db.notify.windows.com/0"), templates: templates(0..<60),
            secondaryTiles: ["a": tile(1, templates(0..<40)), "b": tile(2, templates(0..<1))])
        for (installation, message) in [
            (pad, "the installation has 101 templates; the limit is 100"),
            (windows, "the installation has 101 templates; the limit is 100"),
        ] {
            let error = await refusal { try await hub.putInstallation(installation) }
            #expect(error?.code == "installation.invalid" && error?.status == 400 && error?.message == message)
        }
        windows.templates = [:]
        windows.secondaryTiles = Dictionary(uniqueKeysWithValues: (0...100).map { ("\($0)", tile($0)) })
        let tiles = await refusal { try await hub.putInstallation(windows) }
        #expect(tiles?.message == "the installation has 101 secondary tiles; the limit is 100")
        pad.templates = templates(0..<1)
        pad.templates["t0"]?.tags = try (0...1000).map { try Tag("tag-\($0)") }
        #expect(await refusal { try await hub.putInstallation(pad) }?.code == "tag.too_many")
        // Its own tags and those of the template count together.
        pad.templates["t0"]?.tags = try (0..<999).map { try Tag("tag-\($0)") }
        #expect(await refusal { try await hub.putInstallation(pad) }?.code == "tag.too_many")
        #expect(await hub.size().registrations == 0)
    }

    @Test("Patches cannot make an installation larger than a body could") func size() async throws {
        try await hub.putInstallation(try installation())
        let body = JSON.string(#"{"a":""# + String(repeating: "x", count: 100_000) + #""}"#)
        for name in ["a", "b"] { try await hub.patchInstallation("pad", [.init(.add, "/templates/\(name)", ["body": body])]) }
        let error = await refusal { try await hub.patchInstallation("pad", [.init(.add, "/templates/c", ["body": body])]) }
        #expect(error?.code == "installation.invalid" && error?.status == 413)
        #expect(try await hub.installation("pad").templates.count == 3)
    }

    @Test("An installation cannot be addressed as another user or installation") func spoofing() async throws {
        for tag in ["$UserId:{bob}", "$InstallationId:{other}"] {
            var installation = try installation()
            installation.tags = [try Tag(tag)]
            #expect(await refusal { try await hub.putInstallation(installation) }?.code == "tag.reserved")
        }
    }

    @Test("A template whose name is not a valid tag has no tag, and a byte order mark before its body is skipped") func awkwardTemplate()
        async throws
    {
        var installation = try installation()
        installation.templates = ["My template": InstallationTemplate(body: "\u{FEFF}{\"a\":\"$(b)\"}")]
        try await hub.putInstallation(installation)
        let stored = try await hub.installation("pad").templates["My template"]
        #expect(stored?.tags == [])
        #expect(stored.map { Array($0.body.utf8) } == Array("{\"a\":\"$(b)\"}".utf8))
        _ = try await hub.send(.properties(["b": "c"]))
        #expect(bench.connector.bodies == ["{\"a\":\"c\"}"])
    }

    // MARK: - Expiry

    @Test("A time in the past is not a valid expiry") func pastExpiry() async throws {
        var installation = try installation()
        installation.expiration = bench.clock.now
        let put = await refusal { try await hub.putInstallation(installation) }
        #expect(put?.code == "installation.invalid" && put?.status == 400)
        #expect(put?.message == "the expirationTime 2026-01-05T09:00:00.000Z has passed")
        try await hub.putInstallation(try self.installation())
        let patch = await refusal { try await hub.patchInstallation("pad", [.init(.add, "/expirationTime", "2026-01-05")]) }
        #expect(patch?.code == "installation.invalid")
    }

    @Test("An installation's own expiry applies") func ownExpiry() async throws {
        var installation = try installation()
        installation.expiration = bench.clock.now + .seconds(10)
        try await hub.putInstallation(installation)
        bench.advance(by: .seconds(9))
        #expect(try await hub.installation("pad").expiration == installation.expiration)
        bench.advance(by: .seconds(1))
        #expect(await refusal { try await hub.installation("pad") }?.code == "hub.not_found")
        #expect(try await bench.send(to: "Sports").state == .noTargetFound)
    }

    @Test("Without an own expiry the hub's lifetime applies, from the last write") func hubExpiry() async throws {
        try await hub.putInstallation(try installation())
        bench.advance(by: .seconds(3000))
        try await hub.patchInstallation("pad", [.init(.add, "/tags", "World")])
        bench.advance(by: .seconds(3000))
        #expect(try await hub.installation("pad").tags.count == 2)
        bench.advance(by: .seconds(600))
        #expect(await refusal { try await hub.installation("pad") }?.code == "hub.not_found")
    }

    @Test("Even the longest lifetime does not exceed the last date") func farExpiry() async throws {
        let bench = try HubBench(registrationTTL: .seconds(10_675_198 * 86_400))
        #expect(try await bench.register(.phone(2)).expiration == .distantFuture)
        var installation = try installation()
        try await bench.hub.putInstallation(installation)
        #expect(try await bench.hub.installation("pad").expiration == .distantFuture)
        installation.expiration = Timestamp(milliseconds: .max)
        try await bench.hub.putInstallation(installation)
        #expect(try await bench.hub.installation("pad").expiration == .distantFuture)
        #expect(try await bench.hub.registrations(.all, page: Page()).registrations.allSatisfy { $0.expiration == .distantFuture })
    }

    @Test("An installation expires even while its channel is expired") func expiryOffTheAir() async throws {
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        try await hub.putInstallation(try installation())
        try await bench.send(to: "Sports")
        #expect(try await hub.installation("pad").isPushChannelExpired)
        bench.advance(by: .seconds(3600))
        #expect(await refusal { try await hub.installation("pad") }?.code == "hub.not_found")
    }

    // MARK: - Invalid channels

    @Test("An installation with an expired channel is not reached until it has another channel") func deadChannel() async throws {
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        try await hub.putInstallation(try installation())
        let outcome = try await hub.send(.properties(["text": "Hi"], to: "Sports"))
        #expect(outcome.devices.map(\.isRegistrationRemoved) == [true])
        #expect(bench.notes(.feedback) == ["installation pad: channel expired, Unregistered"])
        #expect(try await hub.installation("pad").isPushChannelExpired)
        #expect(try await bench.send(to: "$InstallationId:{pad}").state == .noTargetFound)

        try await hub.putInstallation(try installation())
        #expect(try await hub.installation("pad").isPushChannelExpired)
        try await hub.patchInstallation("pad", [.init(.replace, "/pushChannel", .string(DeviceHandle.phone(1).text))])
        #expect(try await bench.send(to: "Sports").state == .noTargetFound)

        try await hub.patchInstallation("pad", [.init(.replace, "/pushChannel", .string(DeviceHandle.phone(2).text))])
        #expect(try await hub.installation("pad").isPushChannelExpired == false)
        #expect(try await bench.send(to: "Sports").sent == 1)
    }

    @Test("Only the hub can mark a channel as expired") func claim() async throws {
        var installation = try installation()
        installation.isPushChannelExpired = true
        try await hub.putInstallation(installation)
        #expect(try await hub.installation("pad").isPushChannelExpired == false)
    }
}
