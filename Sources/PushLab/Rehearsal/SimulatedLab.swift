import Bindings
package import PushModel
package import Simulators
import Synchronization

/// Implements the device lab with simulated phones.
package final class SimulatedLab: DeviceLab {
    let phones: PhoneLab
    private let clock: any HubClock
    private let state: Mutex<State>
    private let events: EventLog
    private let app: String
    private let applicationServerKey: @Sendable () -> [UInt8]

    private struct State {
        var names: Set<String> = []
        var descriptions: [DeviceID: DeviceDescription] = [:]
        var order: [DeviceID] = []
    }

    /// Events on the phones, in order. A class of its own because the phones need it before the lab exists.
    final class EventLog: Sendable {
        let list = Mutex<[PhoneEvent]>([])
        let names = Mutex<[DeviceID: String]>([:])
    }

    /// Creates the phones and observes them. The rehearsal's web app subscribes with `applicationServerKey`.
    ///
    /// - Parameter memory: charged for what the phones store, for retired handles and for events.
    convenience init(
        clock: any HubClock, random: any RandomSource, applicationServerKey: @escaping @Sendable () -> [UInt8],
        memory: WorldMemory = WorldMemory(), observer: (@Sendable (CoreEvent) -> Void)? = nil
    ) {
        let events = EventLog()
        let phones = PhoneLab(
            clock: SimulatorClock(now: { clock.now.milliseconds }), random: SimulatorRandom(bytes: random.bytes),
            observer: PhoneObserver(
                event: { event in
                    memory.grew(by: event.storedBytes)
                    events.list.withLock { $0.append(event) }
                    guard let observer else { return }
                    let change = DeviceEvent(event)
                    let name = events.names.withLock { $0[change.device] } ?? ""
                    let text = [change.kind, change.text.replacing("\n", with: " — ")].filter { !$0.isEmpty }.joined(separator: ": ")
                    observer(CoreEvent(time: change.time, area: .phone, text: "\(name) \(text)"))
                }, grew: memory.grew))
        self.init(phones: phones, events: events, app: Self.app, clock: clock, applicationServerKey: applicationServerKey)
    }

    /// Creates a lab on phones that several labs share. It sees only the phones that it adds.
    ///
    /// - Parameters:
    ///   - events: receives the events of its phones; filled by the creator of `phones`.
    ///   - app: bundle id, package name and app name.
    init(
        phones: PhoneLab, events: EventLog, app: String, clock: any HubClock,
        applicationServerKey: @escaping @Sendable () -> [UInt8]
    ) {
        self.phones = phones
        self.events = events
        self.app = app
        self.clock = clock
        self.applicationServerKey = applicationServerKey
        state = Mutex(State())
    }

    /// The bundle id, package name and app name of the rehearsal's app on every platform.
    static let app = "dev.pushhost.rehearsal"

    package func addDevice(_ description: DeviceDescription) async throws(PushError) -> DeviceID {
        guard let platform = PhonePlatform(description.platform) else {
            throw PushError(
                "device.platform", "there are no simulated phones on \(description.platform.displayName)",
                hint: "platforms are \(Platform.spellings.joined(separator: ", "))", status: 400)
        }
        let isFree = state.withLock { $0.names.insert(description.name).inserted }
        guard isFree else {
            throw PushError(
                "device.exists", "there is a device named \"\(description.name)\" already", hint: "choose another name",
                status: 409)
        }
        let phone = phones.addPhone(
            PhoneDescription(
                name: description.name, platform: platform, user: description.user ?? "",
                locale: description.locale, timeZone: description.timeZone,
                app: PhoneApp(app, applicationServerKey: platform == .browser ? applicationServerKey() : nil)))
        let id = DeviceID(rawValue: phone.number)
        state.withLock { state in
            state.descriptions[id] = description
            events.names.withLock { $0[id] = description.name }
            state.order.append(id)
        }
        return id
    }

    package func device(_ id: DeviceID) async throws(PushError) -> DeviceDescription {
        guard let description = state.withLock({ $0.descriptions[id] }) else {
            throw PushError("device.not_found", "there is no such device", status: 404)
        }
        return description
    }

    package func handle(of id: DeviceID) async throws(PushError) -> DeviceHandle {
        let description = try await device(id)
        guard let text = phones.pushHandle(of: id.phone) else {
            throw PushError(
                "device.uninstalled", "the app is not installed on \(description.name)", hint: "call reinstall first",
                status: 409)
        }
        return try DeviceHandle(platform: description.platform, text: text)
    }

    package func inbox(of id: DeviceID) async throws(PushError) -> [PushModel.InboxItem] {
        phones.inbox(of: id.phone).map(PushModel.InboxItem.init)
    }

    package func perform(_ action: DeviceAction, on id: DeviceID) async throws(PushError) {
        let phone = id.phone
        switch action {
        case .goOffline: phones.setOffline(phone)
        case .goOnline: phones.setOnline(phone)
        case .enterLowPower: phones.setLowPower(phone)
        case .leaveLowPower: phones.setFullPower(phone)
        case .forceQuit: phones.forceQuit(phone)
        case .launch: phones.launch(phone)
        case .rotateToken: phones.rotateToken(of: phone)
        case .uninstall: phones.uninstall(phone)
        case .reinstall: phones.reinstall(phone)
        case .show(let title, let body): phones.showLocal(title: title, body: body, on: phone)
        case .handlePushes: phones.setHandlesPushes(true, of: phone)
        }
    }

    package func storage(of id: DeviceID) async throws(PushError) -> [String: String] { phones.storage(of: id.phone) }

    package func store(_ value: String?, for key: String, on id: DeviceID) async throws(PushError) {
        let others = phones.storage(of: id.phone).reduce(0) { $0 + ($1.key == key ? 0 : $1.key.utf8.count + $1.value.utf8.count) }
        guard value == nil || others + key.utf8.count + (value?.utf8.count ?? 0) <= Self.storageLimit else {
            throw PushError(
                "device.storage_full", "the app's storage holds at most \(Self.storageLimit >> 10) KiB",
                hint: "store less, or remove what is not needed")
        }
        phones.store(value, forKey: key, on: id.phone)
    }

    /// Limit of one device's app storage, names and values, in bytes.
    private static let storageLimit = 1 << 20

    package func waitForItems(
        moreThan count: Int, on id: DeviceID, until deadline: Timestamp
    ) async throws(PushError) -> [PushModel.InboxItem] {
        let phone = id.phone
        while phones.inbox(of: phone).count <= count, clock.now < deadline, !Task.isCancelled {
            let revision = phones.revision(of: phone)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [phones] in _ = await phones.nextChange(of: phone, after: revision) }
                group.addTask { [clock] in try? await clock.sleep(until: deadline) }
                await group.next()
                group.cancelAll()
            }
        }
        return try await inbox(of: id)
    }

    package func nextPush(on id: DeviceID) async throws -> PushModel.InboxItem {
        guard let push = await phones.nextDelivery(for: id.phone) else { throw CancellationError() }
        return item(of: push)
    }

    /// The inbox item that the app receives when a push wakes it.
    func item(of push: AppDelivery) -> PushModel.InboxItem {
        let items = phones.inbox(of: push.phone)
        guard let item = items.last(where: { $0.id == push.id }) else {
            return PushModel.InboxItem(
                id: push.id, receivedAt: Timestamp(milliseconds: push.receivedAt), alert: PushModel.InboxItem.Alert(),
                display: PushModel.InboxItem.Display(isShown: false), payload: push.data, isBackground: true)
        }
        return PushModel.InboxItem(item)
    }

    package func devices() async -> [DeviceID] { state.withLock { $0.order } }

    package func events(since index: Int) async -> [DeviceEvent] {
        events.list.withLock { Array($0.dropFirst(index)) }.map(DeviceEvent.init)
    }
}

extension PhonePlatform {
    package init?(_ platform: Platform) {
        switch platform {
        case .apns: self = .apns
        case .fcmV1, .gcm: self = .fcm
        case .wns: self = .wns
        case .browser: self = .browser
        case .mpns, .adm, .baidu, .xiaomi: return nil
        }
    }
}

extension DeviceID {
    package var phone: PhoneID { PhoneID(number: rawValue) }
}

extension PushModel.InboxItem {
    fileprivate init(_ item: Simulators.InboxItem) {
        self.init(
            id: item.id, receivedAt: Timestamp(milliseconds: item.receivedAt), source: item.source == .local ? .local : .push,
            alert: Alert(title: item.banner.title, body: item.banner.body, badge: item.badge),
            display: Display(isShown: item.isShown, text: item.text, reasonNotShown: item.reasonNotShown), payload: item.data,
            isBackground: item.isBackground)
    }
}

extension PhoneEvent {
    /// Estimated size in bytes of the event, in the log and in the phone's history.
    fileprivate var storedBytes: Int {
        switch kind {
        case .shown(let text): 300 + text.utf8.count
        case .delivered, .stored, .deferred, .replaced, .expired, .dropped: 300
        }
    }
}

extension DeviceEvent {
    init(_ event: PhoneEvent) {
        let (kind, text) =
            switch event.kind {
            case .delivered: ("delivered", "")
            case .stored: ("stored", "until the phone can be reached")
            case .deferred: ("deferred", "until the phone has full power")
            case .replaced(let by): ("replaced", "by \(by)")
            case .expired: ("expired", "its time ran out before it could be delivered")
            case .dropped(let reason): ("dropped", reason)
            case .shown(let text): ("shown", text)
            }
        self.init(
            time: Timestamp(milliseconds: event.time), device: DeviceID(rawValue: event.phone.number), kind: kind, text: text)
    }
}
