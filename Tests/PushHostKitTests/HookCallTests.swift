import Bindings
import Lua
import PushModel
import Support
import Testing

@testable import PushHostKit

/// A plugin of another package, as the host calls it.
@Suite struct HookCallTests {
    private struct Everything: BeforeSendHook, AfterSendHook, BeforeDeliverHook, OutcomeHook, RegisterHook, LoginHook, SecureFetchHook {
        static let name = "everything"
        static let version = "1.0"
        static let settings: [NativeSetting] = [
            .string("mode", default: "soft", choices: ["soft", "hard"], "how"), .integer("limit", default: 3, in: 1...9, "most"),
            .duration("pause", default: "1h", "how long"), .strings("tags", default: ["a"], "which"),
            .boolean("on", default: true, "whether"),
        ]
        static let onFailure = FailurePolicy.failClosed

        let setup: NativeSetup

        init(_ setup: NativeSetup) { self.setup = setup }

        func beforeSend(_ draft: NotificationDraft) async throws -> NotificationDraft {
            guard draft.audience != .everyone else { throw Veto("not to everybody") }
            var draft = draft
            try draft.address("Science")
            draft.properties?["extra"] = "1"
            draft.at = setup.now + 1000
            return draft
        }

        func afterSend(_ notification: NotificationReceipt) { setup.log("\(notification.id) \(notification.notification.hub)") }

        func beforeDeliver(_ group: DeviceGroup) async throws -> [Ruling] {
            #expect(await group.counts(ofTags: ["a", "no tag", "b"]) == [1, 0, 2])
            var numbers: [UInt32] = []
            for await device in group.devices where device.tags.contains("b") { numbers.append(device.number) }
            return [
                .skip(.chosen(numbers), reason: "b"), .hold(.tag("a"), until: setup.now + 5000, reason: "later"), .pass(.all),
            ]
        }

        func onOutcome(_ outcome: Outcome) { setup.warn("\(outcome.id) \(outcome.state) \(outcome.counts)") }

        func onRegister(_ candidate: RegistrationCandidate) async throws -> RegistrationCandidate {
            guard candidate.user != "eve" else { throw Veto("no") }
            var candidate = candidate
            candidate.remove(tag: "a")
            try candidate.add(tag: "b")
            return candidate
        }

        func onLogin(_ login: Login) async throws { if login.isUnproved { throw Veto("prove it") } }

        func onSecureFetch(_ read: SecurePayloadRead) async throws { throw Veto("\(read.username) may not read \(read.id)") }
    }

    private struct Observer: OutcomeHook {
        static let name = "observer"
        static let version = "1.0"
        init(_ setup: NativeSetup) throws {}
        func onOutcome(_ outcome: Outcome) async throws {}
    }

    /// A group of three devices.
    private struct Group: HookedGroup {
        let hub = "hub"
        let notificationID = "n-1"
        let platform = Platform.apns
        let isDirect = false
        let origin: [String] = []
        let request: NotificationRequest
        let all: [HookedDevice]

        var count: Int { all.count }
        func counts(of tags: [PushModel.Tag]) async -> [Int] { tags.map { tag in all.count { $0.tags.contains(tag) } } }
        func devices(after number: UInt32?, limit: Int) async -> [HookedDevice] {
            // Pages of one device, so that the next page is requested.
            Array(all.filter { device in number.map { device.number > $0 } ?? true }.prefix(1))
        }
        func rule(_ rulings: [DeliveryRuling]) async -> [Int] { [] }
    }

    private static func hooks() throws -> (any NativeHooks, Lines) {
        let lines = Lines()
        let settings = LuaTable(fields: ["limit": .integer(3), "tags": .table(LuaTable(array: [.string("x")]))])
        let hooks = try Everything.nativeType.make(
            NativePluginSetup(settings: settings, log: { lines.add("\($0.rawValue) \($1)") }, clock: VirtualClock(now: HubBench.startTime)))
        return (hooks, lines)
    }

    @Test func `the protocols that it conforms to decide which hooks are called`() {
        #expect(Everything.nativeType.phases == Set(HookPhase.allCases))
        #expect(Everything.nativeType.isFailClosed)
        #expect(Everything.nativeType.timeout == .seconds(1))
        #expect(Everything.nativeType.settings.fields.map(\.isRequired) == [false, false, false, false, false])
        #expect(Observer.nativeType.phases == [.onOutcome])
        #expect(!Observer.nativeType.isFailClosed)
    }

    @Test func `a notification is changed, postponed or refused`() async throws {
        let (hooks, _) = try Self.hooks()
        let request = NotificationRequest(audience: .expression(try TagExpression(parsing: "Sports")), content: .template(["text": "Hi"]))
        let changed = try await hooks.beforeSend(SendDraft(hub: "hub", request: request))
        #expect(changed.request.audience.expression?.description == "Science")
        #expect(changed.request.content == .template(["text": "Hi", "extra": "1"]))
        #expect(changed.dueTime == HubBench.startTime + .seconds(1))
        await #expect(throws: HookVeto.self) {
            try await hooks.beforeSend(SendDraft(hub: "hub", request: NotificationRequest(audience: .everyone, content: .template([:]))))
        }
    }

    @Test(arguments: ["$UserId:{bob}", "$installationid:{pad}", "$", "$tag"]) func `a plugin cannot give a device a tag of the hub`(
        tag: String
    ) throws {
        var candidate = try RegistrationCandidate(id: "pad", tags: ["a"])
        let error = #expect(throws: PushError.self) { try candidate.add(tag: tag) }
        #expect(error?.code == "tag.reserved")
        #expect(candidate.tags == ["a"])
    }

    @Test func `devices are counted by tag and iterated, and rulings have the plugin's name`() async throws {
        let (hooks, _) = try Self.hooks()
        let devices = try [("a", 1), ("b", 2), ("b", 3)].map { HookedDevice(number: $1, tags: [try PushModel.Tag($0)]) }
        let rulings = try await hooks.beforeDeliver(
            Group(request: NotificationRequest(audience: .everyone, content: .template([:])), all: devices))
        #expect(
            rulings == [
                DeliveryRuling(devices: .chosen([2, 3]), decision: .skip, plugin: "everything", reason: "b"),
                DeliveryRuling(
                    devices: .tagged(try PushModel.Tag("a")), decision: .hold(until: HubBench.startTime + .seconds(5)),
                    plugin: "everything",
                    reason: "later"),
                DeliveryRuling(devices: .all, decision: .pass, plugin: "everything", reason: ""),
            ])
    }

    @Test func `registrations, logins and secure reads are changed and refused`() async throws {
        let (hooks, _) = try Self.hooks()
        func draft(_ user: String) throws -> RegistrationDraft {
            RegistrationDraft(
                hub: "hub", subject: RegistrationDraft.Subject(.installation, id: "i-1", platform: .apns, userID: user),
                tags: [try PushModel.Tag("a")], isNew: true)
        }
        #expect(try await hooks.onRegister(draft("ana")).tags.map(\.text) == ["b"])
        await #expect(throws: HookVeto.self) { try await hooks.onRegister(draft("eve")) }
        try await hooks.onLogin(LoginDraft(username: "ana"))
        await #expect(throws: HookVeto.self) { try await hooks.onLogin(LoginDraft(username: "ana", isUnproved: true)) }
        await #expect(throws: HookVeto.self) { try await hooks.onSecureFetch(SecureFetch(id: "s-1", username: "ana")) }
    }

    @Test func `hooks that only receive events can write to the log`() async throws {
        let (hooks, lines) = try Self.hooks()
        let draft = SendDraft(hub: "hub", request: NotificationRequest(audience: .everyone, content: .template([:])))
        try await hooks.afterSend(SentNotification(id: "n-1", draft: draft))
        var outcome = NotificationOutcome(id: "n-1", state: .completed, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
        outcome.tally.counts = [.fcmV1: [.success: 3]]
        try await hooks.onOutcome(EndedNotification(hub: "hub", outcome: outcome))
        #expect(lines.all == ["info n-1 hub", #"warn n-1 Completed ["fcm": ["Success": 3]]"#])
    }

    @Test func `arguments are read by their types`() {
        let arguments = NativeArguments([
            "text": .string("a"), "whole": .number(2), "part": .number(2.5), "flag": .boolean(true),
            "texts": .table(LuaTable(array: [.string("x"), .string("y")])),
        ])
        #expect(arguments.string("text") == "a" && arguments.string("flag") == nil && arguments.string("none") == nil)
        #expect(arguments.integer("whole") == 2 && arguments.integer("part") == nil && arguments.number("part") == 2.5)
        #expect(arguments.boolean("flag") == true && arguments.strings("texts") == ["x", "y"])
    }

    @Test func `a plugin is tested with values that its tests make`() async throws {
        let lines = Lines()
        let plugin = Everything(NativeSetup(settings: ["limit": .integer(3)], now: 7000) { lines.add($0) })
        let draft = try NotificationDraft(to: "Sports", properties: ["text": "Hi"])
        #expect(try await plugin.beforeSend(draft).audience == .expression("Science"))
        await #expect(throws: Veto.self) { try await plugin.beforeSend(NotificationDraft(properties: [:])) }
        let group = try DeviceGroup(
            [.init(number: 1, tags: ["a"]), .init(number: 2, tags: ["b"]), .init(number: 3, installationID: "i", tags: ["b"])], of: draft)
        let rulings = try await plugin.beforeDeliver(group)
        #expect(rulings.first == .skip(.chosen([2, 3]), reason: "b"))
        #expect(rulings.map(\.fate) == [.skip, .hold(12_000), .pass])
        #expect(try await plugin.onRegister(RegistrationCandidate(id: "i-1", user: "ana", tags: ["a"])).tags == ["b"])
        await #expect(throws: Veto.self) { try await plugin.onLogin(Login(username: "ana", isUnproved: true)) }
        await #expect(throws: Veto.self) { try await plugin.onSecureFetch(SecurePayloadRead(id: "s", username: "ana")) }
        plugin.afterSend(NotificationReceipt(id: "n-1", notification: draft))
        plugin.onOutcome(Outcome(id: "n-1", counts: ["fcm": ["Success": 3]]))
        #expect(lines.all == ["n-1 hub", #"n-1 Completed ["fcm": ["Success": 3]]"#])
    }
}
