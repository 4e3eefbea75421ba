import Bindings
import PushBackend
import PushHub
import PushModel
import Support
import Synchronization
import Testing

@Suite struct DeviceSubscriberTests {
    private let bench: HubBench
    private let storage = DeviceMemory()
    private let template: RegistrationTemplate

    init() throws {
        bench = try HubBench(registrationTTL: .seconds(3600))
        template = try RegistrationTemplate(
            name: "simpleAPNSTemplate", body: AlertPayloads.template(property: "messageParam", platform: .apns),
            expiry: "0", platform: .apns)
    }

    private var subscriber: DeviceSubscriber { DeviceSubscriber(hub: bench.hub, storage: storage) }

    @discardableResult
    private func subscribe(
        _ categories: String..., handle: Int = 1, over hub: (any HubGateway)? = nil
    ) async throws -> Registration {
        try await DeviceSubscriber(hub: hub ?? bench.hub, storage: storage)
            .subscribe(handle: .phone(handle), categories: try categories.map { try Tag($0) }, template: template)
    }

    private func registered() async throws -> [Registration] {
        try await bench.hub.registrations(.all, page: Page()).registrations
    }

    private func news(to category: String) async throws -> NotificationOutcome {
        try await bench.hub.send(.properties(["messageParam": "Breaking \(category) News"], to: category))
    }

    @Test func `A subscriber receives news of its categories, and the device stores the registration and the categories`() async throws {
        let registration = try await subscribe("World", "Sports", "world")
        #expect(storage.texts == ["subscriptionId": registration.id.text, "categories": #"["World","Sports"]"#])
        #expect(try await subscriber.categories() == ["World", "Sports"])
        #expect(try await news(to: "Sports").sent == 1)
        #expect(bench.connector.bodies == [#"{"aps":{"alert":"Breaking Sports News"}}"#])
        #expect(bench.connector.batches[0].headers == [PushHeader("apns-expiration", "0")])
        #expect(try await news(to: "Politics").state == .noTargetFound)
    }

    @Test func `Subscribing again replaces the categories`() async throws {
        let first = try await subscribe("World", "Sports")
        let second = try await subscribe("Science")
        #expect(second.id == first.id && second.etag == 2)
        #expect(try await subscriber.categories() == ["Science"])
        #expect(try await news(to: "World").state == .noTargetFound)
        try await subscribe()
        #expect(try await subscriber.categories() == [])
        #expect(try await news(to: "Science").state == .noTargetFound)
    }

    @Test func `After a token change the same registration has the new handle`() async throws {
        let first = try await subscribe("World")
        let second = try await subscribe("World", handle: 2)
        #expect(second.id == first.id)
        #expect(try await news(to: "World").devices.map(\.handle) == [.phone(2)])
    }

    // MARK: - Missing registrations

    @Test func `When the registration id no longer exists, one new id is requested`() async throws {
        let first = try await subscribe("World")
        bench.advance(by: .seconds(3600))
        let second = try await subscribe("Sports")
        #expect(second.id != first.id && second.etag == 1)
        #expect(storage.texts["subscriptionId"] == second.id.text)

        let puts = Mutex(0)
        let hub = InterceptedHub(bench.hub) { call throws(PushError) in
            guard call.isPut else { return }
            puts.withLock { $0 += 1 }
            throw PushError("hub.gone", "gone", status: 410)
        }
        let before = storage.texts
        #expect(await refusal { try await subscribe("Science", over: hub) }?.code == "hub.gone")
        #expect(puts.withLock { $0 } == 2)
        #expect(storage.texts == before)
    }

    @Test func `Nothing is stored when the hub refuses a registration`() async throws {
        let wrong = try RegistrationTemplate(body: "{}", platform: .gcm)
        let error = await refusal {
            try await subscriber.subscribe(handle: .phone(1), categories: [try Tag("World")], template: wrong)
        }
        #expect(error?.code == "template.platform")
        #expect(storage.texts.isEmpty)
        let registration = try await subscribe("World")
        let before = storage.texts
        for call: InterceptedHub.Call in [.registrations, .createRegistrationID, .putRegistration(registration.id)] {
            if call == .registrations { storage.replace([:]) } else { storage.replace(before) }
            let kept = storage.texts
            let hub = InterceptedHub(bench.hub) { asked throws(PushError) in
                if asked == call || call == .createRegistrationID { throw PushError("hub.unreachable", "no", status: 503) }
            }
            #expect(await refusal { try await subscribe("Sports", over: hub) }?.code == "hub.unreachable")
            #expect(storage.texts == kept)
        }
    }

    @Test(arguments: ["username:bob", "UserName:bob", "username:\u{301}bob", "$UserId:{bob}", "$installationid:{pad}"])
    func `A category that names a user or a device is refused without a call to the hub`(tag: String) async throws {
        let error = await refusal { try await subscribe("World", tag) }
        #expect(error?.code == "subscription.category" && error?.status == 400)
        #expect(try await registered().isEmpty && storage.texts.isEmpty)
        #expect(bench.events.isEmpty)
    }

    // MARK: - Cleared storage

    @Test func `A device that lost its stored id finds its registration by its handle`() async throws {
        let first = try await subscribe("World")
        storage.replace([:])
        let second = try await subscribe("Sports")
        #expect(second.id == first.id)
        #expect(try await registered().count == 1)
        #expect(try await news(to: "World").state == .noTargetFound)
    }

    @Test func `Other registrations of the same handle are unchanged`() async throws {
        let session = try await bench.login("alice")
        let id = try await bench.backend.registrationID(session, handle: .phone(1))
        _ = try await bench.backend.putRegistration(
            session, id, RegistrationDescription(handle: .phone(1), tags: [try Tag("World")], template: template))
        try await bench.register(.phone(1), tags: ["World"])
        try await bench.register(.phone(1), tags: ["World"], template: template.body)
        try await bench.hub.putInstallation(
            Installation(
                id: "pad", handle: .phone(1),
                templates: ["simpleAPNSTemplate": InstallationTemplate(body: template.body)]))
        let before = try await registered()
        let own = try await subscribe("Sports")
        #expect(try await registered() == before + [own])
    }

    @Test(arguments: ["", "junk", "1-2", "8017-1325-x"])
    func `An invalid stored id counts as missing`(text: String) async throws {
        storage.replace(["subscriptionId": text])
        let registration = try await subscribe("World")
        #expect(storage.texts["subscriptionId"] == registration.id.text)
    }

    @Test(arguments: ["", "World", #"{"a":1}"#, #"["World",1]"#])
    func `Stored categories that are not a list of strings are an error until the device subscribes again`(text: String) async throws {
        storage.replace(["categories": text])
        #expect(await refusal { try await subscriber.categories() }?.code == "subscription.storage")
        try await subscribe("World")
        #expect(try await subscriber.categories() == ["World"])
    }

    // MARK: - Unsubscribing

    @Test func `Unsubscribing deletes the registration and clears the storage`() async throws {
        let first = try await subscribe("World")
        try await subscriber.unsubscribe()
        #expect(try await registered().isEmpty && storage.texts.isEmpty)
        #expect(try await subscriber.categories() == [])
        try await subscriber.unsubscribe()
        #expect(try await subscribe("World").id != first.id)
    }

    @Test func `Unsubscribing succeeds when the registration is already gone`() async throws {
        let registration = try await subscribe("World")
        try await bench.hub.deleteRegistration(registration.id, ifMatch: nil)
        try await subscriber.unsubscribe()
        #expect(storage.texts.isEmpty)
    }

    @Test func `The storage is unchanged when the registration cannot be deleted`() async throws {
        try await subscribe("World")
        let before = storage.texts
        let hub = InterceptedHub(bench.hub) { call throws(PushError) in
            if call.isDelete { throw PushError("hub.unreachable", "no", status: 503) }
        }
        let error = await refusal { try await DeviceSubscriber(hub: hub, storage: storage).unsubscribe() }
        #expect(error?.code == "hub.unreachable")
        #expect(storage.texts == before)
    }
}

/// The storage of an app, in memory.
private final class DeviceMemory: DeviceStorage {
    private let kept = Mutex<[String: String]>([:])

    var texts: [String: String] { kept.withLock { $0 } }

    func replace(_ texts: [String: String]) { kept.withLock { $0 = texts } }

    func text(_ key: String) async throws(PushError) -> String? { kept.withLock { $0[key] } }

    func store(_ text: String?, _ key: String) async throws(PushError) { kept.withLock { $0[key] = text } }
}
