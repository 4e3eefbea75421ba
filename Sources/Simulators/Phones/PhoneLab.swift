import Synchronization

/// All simulated phones, with the handles that the push services gave them.
///
/// Nothing runs by itself: a phone changes when a service delivers, or when one of these methods is called. An unknown phone has no handle,
/// an empty inbox and no storage; changes to it have no effect.
package final class PhoneLab: Sendable {
    let clock: SimulatorClock
    private let random: SimulatorRandom
    let adoptsHandles: Bool
    let fullPhoneLimit: Int?
    /// Maximum number of adopted handles, so that made-up handles cannot exhaust the memory.
    package let adoptionLimit: Int
    private let inboxLimit: Int?
    private let storageLimit: Int
    private let observer: (@Sendable (PhoneEvent) -> Void)?
    private let wakeObserver: (@Sendable (AppDelivery) -> Void)?
    let state = Mutex(LabState())

    /// - Parameters:
    ///   - adoptsHandles: Whether an unknown handle becomes a new phone at the first push to it, named after the handle. The services still
    ///     check its format.
    ///   - closeCircle: Maximum number of full phones; iPhones adopted beyond it are only counted. `nil` for no limit.
    ///   - adoptionLimit: Maximum number of adopted handles, including counted ones.
    ///   - inboxLimit: Maximum number of inbox items per phone, and of pushes waiting for its app's code; the oldest are dropped. `nil` for
    ///     no limit.
    ///   - storageLimit: Maximum size of all phones, in bytes; beyond it the services reject pushes.
    ///   - observer: Called for every event of a push, in order, outside of any lock.
    ///   - wakeObserver: Called in the same way for every push that wakes an app's own code.
    package init(
        clock: SimulatorClock, random: SimulatorRandom, adoptsHandles: Bool = false, fullPhoneLimit: Int? = nil,
        adoptionLimit: Int = PhoneLab.defaultAdoptionLimit, inboxLimit: Int? = nil,
        storageLimit: Int = .max, observer: (@Sendable (PhoneEvent) -> Void)? = nil, wakeObserver: (@Sendable (AppDelivery) -> Void)? = nil
    ) {
        self.clock = clock
        self.random = random
        self.adoptsHandles = adoptsHandles
        self.fullPhoneLimit = fullPhoneLimit
        self.adoptionLimit = adoptionLimit
        self.inboxLimit = inboxLimit
        self.storageLimit = storageLimit
        self.observer = observer
        self.wakeObserver = wakeObserver
    }

    /// Sets the address of the services, which new handles name.
    package func publish(_ address: ServiceAddress) { state.withLock { $0.address = address } }

    var address: ServiceAddress { state.withLock { $0.address } }

    /// Adds a phone that is online, with its app installed and running in the background.
    package func addPhone(_ description: PhoneDescription) -> PhoneID {
        let now = clock.now()
        return state.withLock { $0.add(description, now: now, random: random) }
    }

    /// Adds a phone unless its name is taken; then returns `nil`. A phone without the app is removed to free its name.
    package func addPhone(uniquelyNamed description: PhoneDescription) -> PhoneID? {
        let now = clock.now()
        let (phone, actions) = state.withLock { state in
            let (isFree, actions) = state.free(description.name, now: now)
            return (isFree ? state.add(description, now: now, random: random) : nil, actions)
        }
        for action in actions { action() }
        return phone
    }

    /// Removes phones with all their data; their handles are unregistered from now on.
    package func remove(_ phones: [PhoneID]) {
        let now = clock.now()
        let actions = state.withLock { $0.remove(phones, now: now) }
        for action in actions { action() }
    }

    /// The phone with this name; if there are several, the first.
    package func phone(named name: String) -> PhoneID? { state.withLock { $0.names[name] } }

    /// All phones, in the order in which they were added.
    package var phones: [PhoneID] { state.withLock { $0.phones.keys.sorted() } }

    package func description(of phone: PhoneID) -> PhoneDescription? { read(phone)?.description }

    /// The app's push handle: 64 lower-case hexadecimal digits (APNs), a registration token (FCM), an https channel URI (WNS), a
    /// PushSubscription as JSON (browsers); `nil` while the app is not installed.
    package func pushHandle(of phone: PhoneID) -> String? { read(phone)?.handle?.text }

    /// The phone that a handle belongs or belonged to; for browsers, the handle is the endpoint.
    package func phone(withHandle handle: String) -> PhoneID? { state.withLock { $0.handles[handle]?.phone } }

    /// All items that arrived, in order, shown or not.
    package func inbox(of phone: PhoneID) -> [InboxItem] { read(phone)?.inbox ?? [] }

    /// The badge of the app's icon or tile; `nil` if there is none.
    package func badge(of phone: PhoneID) -> String? { read(phone)?.badge }

    /// The texts of the live tile's notifications, oldest first, at most five (WNS).
    package func tiles(of phone: PhoneID) -> [[String]] { read(phone)?.tiles ?? [] }

    package func isOnline(_ phone: PhoneID) -> Bool { read(phone)?.isOnline ?? false }

    /// The number of changes to the phone, for `nextChange(of:after:)`.
    package func revision(of phone: PhoneID) -> Int { read(phone)?.revision ?? 0 }

    /// The app's data on the phone; removed with the app.
    package func storage(of phone: PhoneID) -> [String: String] { read(phone)?.storage ?? [:] }

    /// Stores a text on the phone; `nil` removes it.
    package func store(_ value: String?, forKey key: String, on phone: PhoneID) {
        change(phone) { phone, _, _ in phone.store(value, forKey: key) }
    }

    /// Disconnects the phone; the services store pushes as their rules allow.
    package func setOffline(_ phone: PhoneID) {
        change(phone) { phone, now, _ in phone.offlineSince = phone.offlineSince ?? now }
    }

    /// Connects the phone; stored pushes that have not expired arrive now, in order.
    package func setOnline(_ phone: PhoneID) {
        change(phone) { phone, now, effects in phone.comeOnline(now: now, effects: &effects) }
    }

    package func isInLowPower(_ phone: PhoneID) -> Bool { read(phone)?.isInLowPower ?? false }

    /// Turns on low power mode: pushes that are not urgent wait, as the rules of their service allow.
    package func setLowPower(_ phone: PhoneID) {
        change(phone) { phone, now, _ in phone.lowPowerSince = phone.lowPowerSince ?? now }
    }

    /// Turns off low power mode; waiting pushes that have not expired arrive now, in order.
    package func setFullPower(_ phone: PhoneID) {
        change(phone) { phone, now, effects in phone.endLowPower(now: now, effects: &effects) }
    }

    /// The user closes the app for good: swiped away (APNs), force-stopped (FCM), terminated (WNS). A browser is quit, and then
    /// unreachable.
    package func forceQuit(_ phone: PhoneID) {
        change(phone) { phone, now, _ in phone.closedSince = phone.closedSince ?? now }
    }

    /// The user starts the app, or the browser, again.
    package func launch(_ phone: PhoneID) {
        change(phone) { phone, now, effects in phone.launch(now: now, effects: &effects) }
    }

    /// Sets whether the app's own code handles background, data and raw pushes, so that nothing is shown automatically.
    package func setHandlesPushes(_ handles: Bool, of phone: PhoneID) {
        change(phone) { phone, _, _ in phone.description.handlesPushes = handles }
    }

    /// The app shows an item itself.
    @discardableResult
    package func showLocal(title: String, body: String, on phone: PhoneID) -> InboxItem? {
        change(phone) { phone, now, effects in
            phone.showLocal(title: title, body: body, now: now, effects: &effects)
        }
    }

    /// Gives the app a new handle and returns it; the old one is unregistered from now on. Returns `nil` if the app is not installed.
    @discardableResult
    package func rotateToken(of phone: PhoneID) -> String? {
        let now = clock.now()
        let handle = state.withLock { state -> PushHandle? in
            guard state.phones[phone]?.handle != nil else { return nil }
            state.issueHandle(for: phone, now: now, random: random)
            return state.phones[phone]?.handle
        }
        // Stored pushes end with their subscription, and could not be decrypted with the new keys.
        if handle != nil, description(of: phone)?.platform == .browser {
            change(phone) { phone, now, effects in
                phone.dropStored(because: "the subscription has ended", now: now, effects: &effects)
            }
        }
        return handle?.text
    }

    /// Removes the app with its data, shown items and stored pushes; its handle is unregistered from now on.
    package func uninstall(_ phone: PhoneID) {
        let now = clock.now()
        state.withLock { $0.retireHandle(of: phone, now: now) }
        change(phone) { phone, now, effects in phone.removeApp(now: now, effects: &effects) }
    }

    /// Installs the app, after uninstalling it if necessary, and returns its new handle.
    @discardableResult
    package func reinstall(_ phone: PhoneID) -> String? {
        if pushHandle(of: phone) != nil { uninstall(phone) }
        let now = clock.now()
        state.withLock { $0.issueHandle(for: phone, now: now, random: random) }
        change(phone) { phone, _, _ in phone.uninstalledSince = nil }
        launch(phone)
        return pushHandle(of: phone)
    }

    /// Subscribes the app to an FCM topic, or to a broadcast channel of APNs.
    package func join(topic: String, on phone: PhoneID) {
        change(phone) { phone, _, _ in _ = phone.topics.insert(topic) }
    }

    /// Unsubscribes the app from a topic or channel.
    package func leave(topic: String, on phone: PhoneID) {
        change(phone) { phone, _, _ in _ = phone.topics.remove(topic) }
    }

    /// The record of a handle. An unknown handle becomes a phone with this description, if the lab adopts handles and has not reached its
    /// limit.
    func record(of handle: String, adoptingAs description: @autoclosure () -> PhoneDescription) -> HandleRecord? {
        let now = clock.now()
        return state.withLock { state in
            if let record = state.handles[handle] { return record }
            guard adoptsHandles, hasRoom(state), !isOutOfMemory(state) else { return nil }
            return state.adopt(handle, as: description(), now: now)
        }
    }

    /// The default storage limit of a lab that adopts handles, in bytes.
    package static let defaultStorageLimit = 4 << 30

    /// Approximate size of everything that arrived on phones or is stored for them, in bytes.
    package var storedBytes: Int { state.withLock { $0.storedBytes } }

    /// Whether the services reject all pushes because the storage limit is reached.
    package var isOutOfMemory: Bool { state.withLock { isOutOfMemory($0) } }

    func isOutOfMemory(_ state: LabState) -> Bool { state.storedBytes >= storageLimit }

    /// Whether another phone may be added, by a session or by adoption.
    package var hasRoomForPhone: Bool {
        state.withLock { $0.phones.count + $0.crowd.count < adoptionLimit && !isOutOfMemory($0) }
    }

    /// The default limit of adopted handles, in a lab whose phones all have an inbox.
    package static let defaultAdoptionLimit = 1_000_000

    /// Number of adopted handles, including counted ones.
    package var adoptedHandles: Int { state.withLock { $0.adopted + $0.crowd.count } }

    /// Whether a push is rejected only because the lab has reached its limits.
    ///
    /// - Parameter isKnown: Whether a phone has the handle.
    func isFull(isKnown: Bool) -> Bool { isOutOfMemory || !isKnown && adoptsHandles && !state.withLock { hasRoom($0) } }

    func hasRoom(_ state: LabState) -> Bool { state.adopted + state.crowd.count < adoptionLimit }

    private func read(_ phone: PhoneID) -> Phone? { state.withLock { $0.phones[phone] } }

    @discardableResult
    func change<Result: Sendable>(
        _ phone: PhoneID, _ body: (inout Phone, Int64, inout Effects) -> Result
    ) -> Result? {
        let now = clock.now()
        let (result, effects, actions) = state.withLock { state in
            var effects = Effects()
            var grown = 0
            let result = state.phones[phone]?.apply { phone in
                let before = phone.storedBytes
                defer {
                    if let inboxLimit { phone.trimInbox(to: inboxLimit) }
                    grown = phone.storedBytes - before
                }
                return body(&phone, now, &effects)
            }
            state.storedBytes += grown
            effects.touch(phone)
            if !effects.events.isEmpty { state.phones[phone]?.note(effects.events) }
            return (result, effects, state.settle(effects, mailboxLimit: inboxLimit))
        }
        for event in effects.events { observer?(event) }
        for delivery in effects.wakes { wakeObserver?(delivery) }
        for action in actions { action() }
        return result
    }
}
