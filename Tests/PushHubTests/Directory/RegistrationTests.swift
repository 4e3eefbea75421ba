import PushHub
import PushModel
import Support
import Testing

@Suite struct RegistrationTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(registrationTTL: .seconds(3600)) }

    private func description(_ number: Int = 1, tags: [String] = []) throws -> RegistrationDescription {
        RegistrationDescription(handle: .phone(number), tags: try tags.map { try Tag($0) })
    }

    @Test("The hub issues ids in Azure's format, each once, the same for the same seed") func ids() async throws {
        let id = await hub.createRegistrationID()
        #expect(RegistrationID(id.text) == id)
        #expect(id.text.hasSuffix("-1"))
        #expect(await hub.createRegistrationID() != id)
        #expect(try await HubBench(registrationTTL: .seconds(3600)).hub.createRegistrationID() == id)
        let error = await refusal { try await hub.registration(id) }
        #expect(error?.code == "hub.not_found")
        #expect(error?.message == "unknown registration \"\(id)\"")
        #expect(error?.status == 404)
    }

    @Test(
        "An id is digits, digits and a shard",
        arguments: ["", "1", "1-2", "1-2-", "a-2-1", "1-2-3-4", "12345678901234567890-1-1", "1-1-12345678901234567890"])
    func badIDs(text: String) {
        #expect(RegistrationID(text) == nil)
    }

    @Test("A created registration can be read at once") func create() async throws {
        let created = try await bench.register(
            .phone(1), tags: ["Sports", "sports", "News"], template: #"{"a":"$(b)"}"#, pushVariables: ["c": "d"])
        #expect(created.etag == 1)
        #expect(created.tags.map(\.text) == ["Sports", "News"])
        #expect(created.expiration == bench.clock.now + .seconds(3600))
        #expect(created.updatedAt == bench.clock.now)
        #expect(try await hub.registration(created.id) == created)
        #expect(created.pushVariables == ["c": "d"])
        #expect(created.template?.body == #"{"a":"$(b)"}"#)
    }

    @Test("An upsert increments the ETag, replaces everything and restarts the expiry") func upsert() async throws {
        let id = await hub.createRegistrationID()
        _ = try await hub.putRegistration(id, try description(1, tags: ["a"]), ifMatch: nil)
        bench.advance(by: .seconds(600))
        let channel = DeviceHandle.fcmV1(token: "token")
        let changed = try await hub.putRegistration(id, RegistrationDescription(handle: channel), ifMatch: nil)
        #expect(changed.etag == 2)
        #expect(changed.handle == channel && changed.tags.isEmpty)
        #expect(changed.expiration == bench.clock.now + .seconds(3600))
        #expect(try await hub.registrations(.handle(.phone(1)), page: Page()).registrations.isEmpty)
        #expect(try await hub.registrations(.tag(Tag("a")), page: Page()).registrations.isEmpty)
    }

    @Test("An id that was never issued can be used") func foreignID() async throws {
        let id = try #require(RegistrationID("123-234-1"))
        #expect(try await hub.putRegistration(id, try description(), ifMatch: nil).etag == 1)
    }

    @Test("An update needs the current ETag and an existing registration") func ifMatch() async throws {
        let created = try await bench.register(.phone(1))
        #expect(try await hub.putRegistration(created.id, try description(), ifMatch: 1).etag == 2)
        let stale = await refusal { try await hub.putRegistration(created.id, description(), ifMatch: 1) }
        #expect(stale?.code == "hub.precondition_failed")
        #expect(stale?.message == "registration \(created.id) has ETag 2, not 1: it was changed meanwhile")
        #expect(stale?.status == 412)
        #expect(await refusal { try await hub.deleteRegistration(created.id, ifMatch: 1) }?.status == 412)
        let id = await hub.createRegistrationID()
        #expect(await refusal { try await hub.putRegistration(id, description(), ifMatch: 1) }?.status == 404)
        try await hub.deleteRegistration(created.id, ifMatch: 2)
    }

    @Test("A deleted registration is gone: reading is 404, deleting again too, writing is 410") func gone() async throws {
        let created = try await bench.register(.phone(1), tags: ["a"])
        try await hub.deleteRegistration(created.id, ifMatch: nil)
        #expect(await refusal { try await hub.registration(created.id) }?.status == 404)
        #expect(await refusal { try await hub.deleteRegistration(created.id, ifMatch: nil) }?.status == 404)
        for etag in [nil, 1] {
            let error = await refusal { try await hub.putRegistration(created.id, description(), ifMatch: etag) }
            #expect(error?.code == "hub.gone")
            #expect(error?.message == "registration id \(created.id) has been deleted")
            #expect(error?.hint == "request a new id and register again")
            #expect(error?.status == 410)
        }
        #expect(try await bench.send(to: "a").state == .noTargetFound)
    }

    @Test("A registration expires on the clock, to the millisecond, and its id is gone") func expiry() async throws {
        let created = try await bench.register(.phone(1), tags: ["a"])
        bench.advance(by: .milliseconds(3_599_999))
        #expect(try await bench.send(to: "a").sent == 1)
        bench.advance(by: .milliseconds(1))
        #expect(try await bench.send(to: "a").state == .noTargetFound)
        #expect(await refusal { try await hub.registration(created.id) }?.code == "hub.not_found")
        #expect(try await hub.registrations(.all, page: Page()).registrations.isEmpty)
        let error = await refusal { try await hub.putRegistration(created.id, description(), ifMatch: nil) }
        #expect(error?.code == "hub.gone")
        #expect(error?.message == "registration id \(created.id) has expired")
        #expect(bench.notes(.hub).contains("1 registration expired"))
    }

    @Test("A renewed registration does not expire at its first expiry") func renewal() async throws {
        let created = try await bench.register(.phone(1))
        for _ in 0..<5 {
            bench.advance(by: .seconds(3000))
            _ = try await hub.putRegistration(created.id, try description(), ifMatch: nil)
        }
        #expect(try await hub.registration(created.id).etag == 6)
    }

    @Test("Without a lifetime a registration expires in 9999") func forever() async throws {
        let bench = try HubBench()
        let created = try await bench.register(.phone(1))
        #expect(created.expiration.description == "9999-12-31T23:59:59.999Z")
        bench.advance(by: .seconds(86_400 * 365 * 100))
        #expect(try await bench.hub.registration(created.id) == created)
    }

    @Test("A template for another platform than the handle's is rejected") func platformMismatch() async throws {
        let template = try RegistrationTemplate(body: "{}", platform: .gcm)
        let error = await refusal {
            try await hub.createRegistration(RegistrationDescription(handle: .phone(1), template: template))
        }
        #expect(error?.code == "template.platform")
        #expect(error?.message == "the template is for GCM, the handle for APNs")
    }

    @Test("A tag in any script reaches its devices, however its letters are composed") func anyScript() async throws {
        try await bench.register(.phone(1), tags: ["Café"])
        try await bench.register(.phone(2), tags: ["cafe\u{301}"])
        try await bench.register(.phone(3), tags: ["Cafe"])
        for text in ["Café", "CAFE\u{301}"] { #expect(try await bench.send(to: text).devices.map(\.handle) == [.phone(1), .phone(2)]) }
        #expect(try await bench.send(to: "cafe").devices.map(\.handle) == [.phone(3)])
    }

    @Test("Handles and tags are checked before anything is stored") func checks() async throws {
        let error = await refusal {
            try await hub.createRegistration(RegistrationDescription(handle: .apns(token: "xyz")))
        }
        #expect(error?.code == "handle.invalid")
        let many = await refusal { try await bench.register(.phone(1), tags: (0...1000).map { "t\($0)" }) }
        #expect(many?.code == "tag.too_many")
        #expect(try await hub.registrations(.all, page: Page()).registrations.isEmpty)
    }

    @Test("Registrations of all platforms are stored")
    func platforms() async throws {
        let handles: [DeviceHandle] = [
            .phone(1), .fcmV1(token: "t"), .gcm(token: "t"), .wns(channel: "https://db5.notify.windows.com/?t=1"),
            .subscription,
        ]
        for handle in handles { try await bench.register(handle, tags: ["all"]) }
        let found = try await hub.registrations(.tag(Tag("ALL")), page: Page()).registrations
        #expect(found.map(\.handle) == handles)
        for handle in handles {
            let found = try await hub.registrations(.handle(handle), page: Page()).registrations
            #expect(found.map(\.handle) == [handle])
        }
    }

    // MARK: - Lists

    @Test("A handle is found in any case, with every registration of it in order") func byHandle() async throws {
        let first = try await bench.register(.apns(token: "ABCD"))
        let second = try await bench.register(.apns(token: "abcd"))
        try await bench.register(.phone(1))
        let found = try await hub.registrations(.handle(.apns(token: "aBcD")), page: Page()).registrations
        #expect(found.map(\.id) == [first.id, second.id])
    }

    @Test("A browser is found by the endpoint of its subscription") func byEndpoint() async throws {
        guard case .browser(let endpoint, _, _) = DeviceHandle.subscription else { return }
        let registration = try await bench.register(.subscription)
        try await bench.register(.wns(channel: endpoint))
        let page = Page()
        #expect(try await hub.registrations(.endpoint(endpoint), page: page).registrations.map(\.id) == [registration.id])
        #expect(try await hub.registrations(.endpoint(endpoint + "2"), page: page).registrations.isEmpty)
        try await hub.deleteRegistration(registration.id, ifMatch: nil)
        #expect(try await hub.registrations(.endpoint(endpoint), page: page).registrations.isEmpty)
    }

    @Test("A secondary tile is stored with its registration") func secondaryTile() async throws {
        let description = RegistrationDescription(handle: .wns(channel: "https://wns.example/1"), secondaryTile: "tile")
        let registration = try await hub.createRegistration(description)
        #expect(try await hub.registration(registration.id).secondaryTile == "tile")
    }

    @Test("A list has pages of at most a hundred, and the last one has no token") func pages() async throws {
        var ids: [RegistrationID] = []
        for number in 0..<250 { ids.append(try await bench.register(.phone(number), tags: ["a"]).id) }
        for filter in [RegistrationFilter.all, .tag(try Tag("a"))] {
            var found: [RegistrationID] = []
            var sizes: [Int] = []
            var page = Page(top: 0)
            repeat {
                let answer = try await hub.registrations(filter, page: page)
                found += answer.registrations.map(\.id)
                sizes.append(answer.registrations.count)
                page.continuation = answer.continuation
            } while page.continuation != nil
            #expect(sizes == [100, 100, 50])
            #expect(found == ids)
        }
        let whole = try await hub.registrations(.handle(.phone(7)), page: Page(top: 1))
        #expect(whole.registrations.count == 1 && whole.continuation == nil)
        let fitted = try await hub.registrations(.all, page: Page(top: 101))
        #expect(fitted.registrations.count == 100)
    }

    @Test("There is no continuation token if everything fits on one page") func exactPage() async throws {
        for number in 0..<100 { try await bench.register(.phone(number)) }
        #expect(try await hub.registrations(.all, page: Page()).continuation == nil)
        #expect(try await hub.registrations(.all, page: Page(top: 99)).continuation != nil)
    }

    @Test("Pages that are read while registrations change list each remaining registration once") func pagingWhileChanging()
        async throws
    {
        var staying: [RegistrationID] = []
        var leaving: [RegistrationID] = []
        for number in 0..<60 {
            let id = try await bench.register(.phone(number)).id
            if number % 3 == 0 { leaving.append(id) } else { staying.append(id) }
        }
        var seen: [RegistrationID] = []
        var page = Page(top: 7)
        repeat {
            let answer = try await hub.registrations(.all, page: page)
            seen += answer.registrations.map(\.id)
            page.continuation = answer.continuation
            if let id = leaving.popLast() { try await hub.deleteRegistration(id, ifMatch: nil) }
            try await bench.register(.phone(1000 + seen.count))
            _ = try await hub.putRegistration(staying[0], try description(0), ifMatch: nil)
        } while page.continuation != nil
        #expect(staying.allSatisfy { id in seen.count { $0 == id } == 1 })
    }

    @Test("A foreign token is rejected", arguments: ["x", "-1", "", "4294967296"])
    func badToken(token: String) async {
        let error = await refusal { try await hub.registrations(.all, page: Page(continuation: token)) }
        #expect(error?.code == "hub.continuation")
        #expect(error?.status == 400)
    }

    @Test("Twenty thousand registrations are listed, renewed and reached one by one") func many() async throws {
        for number in 0..<20_000 { try await bench.register(.phone(number), tags: ["user:\(number)", "all"]) }
        for number in stride(from: 0, to: 20_000, by: 10) {
            #expect(try await bench.send(to: "user:\(number) && all").sent == 1)
            bench.advance(by: .milliseconds(1))
        }
        var count = 0
        var page = Page()
        repeat {
            let answer = try await hub.registrations(.all, page: page)
            count += answer.registrations.count
            page.continuation = answer.continuation
        } while page.continuation != nil
        #expect(count == 20_000)
    }
}
