import PushModel
import Support
import Testing

/// The contract of ``HubGateway`` for devices.
@Suite struct DeviceContractTests {
    @Test(arguments: HubSide.allCases)
    func `A registration is written, read, changed and deleted`(side: HubSide) async throws {
        try await side.run { bench in
            let id = try await bench.hub.createRegistrationID()
            let template = try RegistrationTemplate(
                name: "news", body: #"{"aps":{"alert":"{$(news) + ' <&>'}"}}"#, headers: [PushHeader("apns-topic", "dev.app")], expiry: "0",
                platform: .apns)
            let description = RegistrationDescription(
                handle: .phone(1), tags: [try Tag("a"), try Tag("b:c")], template: template, pushVariables: ["name": "Zoé \"&\" <Co>"])
            let first = try await bench.hub.putRegistration(id, description, ifMatch: nil)
            #expect(first.id == id && first.handle == .phone(1) && first.tags == description.tags && first.template == template)
            #expect(first.pushVariables == description.pushVariables && first.expiration == .distantFuture)
            let read = try await bench.hub.registration(id)
            #expect(read.etag == first.etag && read.template == template && read.pushVariables == description.pushVariables)
            let second = try await bench.hub.putRegistration(
                id, RegistrationDescription(handle: .phone(2)), ifMatch: first.etag)
            #expect(second.etag == first.etag + 1 && second.tags.isEmpty && second.template == nil)
            let stale = await refusal { try await bench.hub.putRegistration(id, description, ifMatch: first.etag) }
            #expect(stale?.code == "hub.precondition_failed" && stale?.status == 412)
            try await bench.hub.deleteRegistration(id, ifMatch: second.etag)
            #expect(await refusal { try await bench.hub.registration(id) }?.code == "hub.not_found")
            let never = try #require(RegistrationID("1-2-3"))
            #expect(await refusal { try await bench.hub.putRegistration(never, description, ifMatch: 1) }?.code == "hub.not_found")
            let gone = await refusal { try await bench.hub.putRegistration(id, description, ifMatch: nil) }
            #expect(gone?.code == "hub.gone" && gone?.status == 410)
        }
    }

    @Test(arguments: HubSide.allCases)
    func `Every kind of handle is returned unchanged`(side: HubSide) async throws {
        try await side.run { bench in
            let handles: [DeviceHandle] = [
                .phone(1), .fcmV1(token: "fcm:a_b-c"), .gcm(token: "gcm.token"), .subscription,
                .wns(channel: "https://db3.notify.windows.com/?token=a%2bb%26c"), .adm(token: "amzn1.adm"),
                .baidu(user: "u-1", channel: "c-2"),
            ]
            for handle in handles {
                let made = try await bench.hub.createRegistration(RegistrationDescription(handle: handle))
                #expect(made.handle == handle)
                let page = try await bench.hub.registrations(.handle(handle), page: Page())
                #expect(page.registrations.map(\.id) == [made.id], "\(handle.platform)")
            }
            let found = try await bench.hub.registrations(.endpoint(DeviceHandle.subscription.text), page: Page())
            #expect(found.registrations.map(\.handle) == [.subscription])
        }
    }

    @Test(arguments: HubSide.allCases)
    func `Lists are returned page by page, complete or by tag`(side: HubSide) async throws {
        try await side.run { bench in
            var made: [RegistrationID] = []
            for number in 1...5 { made.append(try await bench.register(.phone(number), number.isMultiple(of: 2) ? "even" : "ö:d#d").id) }
            var found: [RegistrationID] = []
            var page = Page(top: 2)
            repeat {
                let answer = try await bench.hub.registrations(.all, page: page)
                #expect(answer.registrations.count <= 2)
                found += answer.registrations.map(\.id)
                page.continuation = answer.continuation
            } while page.continuation != nil
            #expect(found.sorted { $0.text < $1.text } == made.sorted { $0.text < $1.text })
            let odd = try await bench.hub.allRegistrations(.tag(try Tag("Ö:D#D")))
            #expect(Set(odd.map(\.handle)) == [.phone(1), .phone(3), .phone(5)])
        }
    }

    @Test(arguments: HubSide.allCases)
    func `An installation is written, changed, listed and deleted`(side: HubSide) async throws {
        try await side.run { bench in
            let installation = Installation(
                id: "i-1=ä", userID: "alice", handle: .phone(1), tags: [try Tag("a")], pushVariables: ["x": "y"],
                templates: ["t": InstallationTemplate(body: #"{"aps":{"alert":"$(m)"}}"#, tags: [try Tag("q")])])
            try await bench.hub.putInstallation(installation)
            var read = try await bench.hub.installation(installation.id)
            #expect(read.userID == "alice" && read.handle == .phone(1) && read.tags == installation.tags)
            #expect(read.templates == installation.templates && read.pushVariables == ["x": "y"] && !read.isPushChannelExpired)
            try await bench.hub.patchInstallation(
                installation.id,
                [
                    PatchOperation(.add, "/tags", "b"), PatchOperation(.replace, "/pushChannel", .string(DeviceHandle.phone(9).text)),
                    PatchOperation(.add, "/templates/u", ["body": #"{"aps":{"alert":"$(n)"}}"#, "tags": ["r"]]),
                ])
            read = try await bench.hub.installation(installation.id)
            #expect(
                Set(read.tags.map(\.text)) == ["a", "b"] && read.handle == .phone(9) && read.templates["u"]?.tags?.map(\.text) == ["r"])
            try await bench.hub.putInstallation(Installation(id: "i2", handle: .fcmV1(token: "f")))
            func ids(_ filter: InstallationFilter) async throws -> [String] {
                try await bench.hub.installations(filter, page: Page()).installations.map(\.id).sorted()
            }
            #expect(try await ids(.all) == ["i-1=ä", "i2"])
            #expect(try await ids(.user("ALICE")) == ["i-1=ä"])
            #expect(try await ids(.platform(.fcmV1)) == ["i2"])
            #expect(try await ids(.tag(try Tag("b"))) == ["i-1=ä"])
            try await bench.hub.deleteInstallation(installation.id)
            #expect(await refusal { try await bench.hub.installation(installation.id) }?.code == "hub.not_found")
            #expect(
                await refusal { try await bench.hub.patchInstallation("none", [PatchOperation(.add, "/tags", "b")]) }?.code
                    == "hub.not_found")
        }
    }

    @Test(arguments: HubSide.allCases)
    func `A fault of a device is reported with the hub's own code`(side: HubSide) async throws {
        try await side.run { bench in
            let many = try (1...1001).map { try Tag("t\($0)") }
            let tags = await refusal {
                try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(1), tags: many))
            }
            #expect(tags?.code == "tag.too_many" && tags?.status == 400 && tags?.message.isEmpty == false)
            let handle = await refusal {
                try await bench.hub.createRegistration(RegistrationDescription(handle: .apns(token: "xyz")))
            }
            #expect(handle?.code == "handle.invalid" && handle?.status == 400)
        }
    }
}
