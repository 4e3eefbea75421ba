import Synchronization

/// All simulated phones, the handles that the push services gave them, and the scripts that watch them.
///
/// Nothing here runs by itself: a phone changes when a service delivers, or when one of these methods is called.
/// A phone that the lab does not know has no handle, an empty inbox and no storage; changing it does nothing.
package final class PhoneLab: Sendable {
    let clock: SimulatorClock
    private let random: SimulatorRandom
    let adoptsHandles: Bool
    let closeCircle: Int?
    /// How many handles that nobody gave out may become phones: made-up handles must not use up the memory.
    package let adoptionLimit: Int
    private let inboxLimit: Int?
    private let storageLimit: Int
    private let observer: (@Sendable (PhoneEvent) -> Void)?
    private let wakeObserver: (@Sendable (AppDelivery) -> Void)?
    let state = Mutex(LabState())

    /// - Parameters:
    ///   - adoptsHandles: Whether a handle that no phone has becomes a new phone at the first push to it, named after the
    ///     handle. The services still demand that it has the right shape.
    ///   - closeCircle: How many phones are kept in full; iPhones beyond them that are adopted are only counted. Nil for all.
    ///   - adoptionLimit: How many handles may be adopted, those that are only counted included.
    ///   - inboxLimit: How many items a phone keeps, the newest, and how many pushes wait for its app's code; all for nil.
    ///   - storageLimit: How many bytes the phones may have together: beyond them the services refuse pushes.
    ///   - observer: Told what becomes of every push, in order, outside of any lock.
    ///   - wakeObserver: Told in the same way of every push that wakes an app's own code.
    package init(
        clock: SimulatorClock, random: SimulatorRandom, adoptsHandles: Bool = false, closeCircle: Int? = nil,
        adoptionLimit: Int = PhoneLab.standardAdoptionLimit, inboxLimit: Int? = nil,
        storageLimit: Int = .max, observer: (@Sendable (PhoneEvent) -> Void)? = nil, wakeObserver: (@Sendable (AppDelivery) -> Void)? = nil
    ) {
        self.clock = clock
        self.random = random
        self.adoptsHandles = adoptsHandles
        self.closeCircle = closeCircle
        self.adoptionLimit = adoptionLimit
        self.inboxLimit = inboxLimit
        self.storageLimit = storageLimit
        self.observer = observer
        self.wakeObserver = wakeObserver
    }

    /// Where the services can be reached; handles that are given out from now on are there.
    package func publish(_ address: ServiceAddress) { state.withLock { $0.address = address } }

    var address: ServiceAddress { state.withLock { $0.address } }

    /// Adds a phone that is online, with its app installed and running in the background.
    package func addPhone(_ description: PhoneDescription) -> PhoneID {
        let now = clock.now()
        return state.withLock { $0.add(description, now: now, random: random) }
    }

    /// The same, unless there is a phone of that name already: nil. One without the app gives its name away.
    package func addPhone(uniquelyNamed description: PhoneDescription) -> PhoneID? {
        let now = clock.now()
        let (phone, actions) = state.withLock { state in
            let (isFree, actions) = state.free(description.name, now: now)
            return (isFree ? state.add(description, now: now, random: random) : nil, actions)
        }
        for action in actions { action() }
        return phone
    }

    /// Takes phones out of the lab with all that they hold; their handles are unregistered from now on.
    package func remove(_ phones: [PhoneID]) {
        let now = clock.now()
        let actions = state.withLock { $0.remove(phones, now: now) }
        for action in actions { action() }
    }

    /// The phone of a name; the first, where several have it.
    package func phone(named name: String) -> PhoneID? { state.withLock { $0.names[name] } }

    /// All phones, in the order in which they were added.
    package var phones: [PhoneID] { state.withLock { $0.phones.keys.sorted() } }

    package func description(of phone: PhoneID) -> PhoneDescription? { read(phone)?.description }

    /// The address of the app: 64 lower-case hexadecimal digits (APNs), a registration token (FCM), an https channel URI
    /// (WNS), a PushSubscription as JSON (browsers); nil while the app is not installed.
    package func pushHandle(of phone: PhoneID) -> String? { read(phone)?.handle?.text }

    /// The phone that a handle belongs or belonged to; a browser's is told by its endpoint.
    package func phone(withHandle handle: String) -> PhoneID? { state.withLock { $0.handles[handle]?.phone } }

    /// Everything that arrived, in order, shown or not.
    package func inbox(of phone: PhoneID) -> [InboxItem] { read(phone)?.inbox ?? [] }

    /// The badge of the app's icon or tile; nil when there is none.
    package func badge(of phone: PhoneID) -> String? { read(phone)?.badge }

    /// The texts of the live tile's notifications, oldest first, five at most (WNS).
    package func tiles(of phone: PhoneID) -> [[String]] { read(phone)?.tiles ?? [] }

    package func isOnline(_ phone: PhoneID) -> Bool { read(phone)?.isOnline ?? false }

    /// How many changes the phone has seen; for `nextChange(of:after:)`.
    package func revision(of phone: PhoneID) -> Int { read(phone)?.revision ?? 0 }

    /// What the app keeps on the phone; gone when the app is uninstalled.
    package func storage(of phone: PhoneID) -> [String: String] { read(phone)?.storage ?? [:] }

    /// Keeps a text on the phone; nil removes it.
    package func store(_ value: String?, forKey key: String, on phone: PhoneID) {
        change(phone) { phone, _, _ in phone.store(value, forKey: key) }
    }

    /// Cuts the phone off; the services keep what their rules allow.
    package func setOffline(_ phone: PhoneID) {
        change(phone) { phone, now, _ in phone.offlineSince = phone.offlineSince ?? now }
    }

    /// Connects the phone; what was kept and has not expired arrives now, in order.
    package func setOnline(_ phone: PhoneID) {
        change(phone) { phone, now, effects in phone.comeOnline(now: now, effects: &effects) }
    }

    package func isInLowPower(_ phone: PhoneID) -> Bool { read(phone)?.isInLowPower ?? false }

    /// Lets the phone save power: what is not urgent waits, as the rules of its service allow.
    package func setLowPower(_ phone: PhoneID) {
        change(phone) { phone, now, _ in phone.lowPowerSince = phone.lowPowerSince ?? now }
    }

    /// Ends that; what waited and has not expired arrives now, in order.
    package func setFullPower(_ phone: PhoneID) {
        change(phone) { phone, now, effects in phone.chargeUp(now: now, effects: &effects) }
    }

    /// The user closes the app for good: swiped away (APNs), force-stopped (FCM), terminated (WNS); or quits the browser,
    /// which then is as good as offline.
    package func forceQuit(_ phone: PhoneID) {
        change(phone) { phone, now, _ in phone.closedSince = phone.closedSince ?? now }
    }

    /// The user starts the app, or the browser, again.
    package func launch(_ phone: PhoneID) {
        change(phone) { phone, now, effects in phone.launch(now: now, effects: &effects) }
    }

    /// Whether the app's own code deals with background, data and raw pushes, so that nothing is shown by itself.
    package func setHandlesPushes(_ handles: Bool, of phone: PhoneID) {
        change(phone) { phone, _, _ in phone.description.handlesPushes = handles }
    }

    /// The app displays something itself.
    @discardableResult
    package func showLocal(title: String, body: String, on phone: PhoneID) -> InboxItem? {
        change(phone) { phone, now, effects in
            phone.showLocal(title: title, body: body, now: now, effects: &effects)
        }
    }

    /// Gives the app a new handle, and returns it; the old one is unregistered from now on. Nil when not installed.
    @discardableResult
    package func rotateToken(of phone: PhoneID) -> String? {
        let now = clock.now()
        let handle = state.withLock { state -> PushHandle? in
            guard state.phones[phone]?.handle != nil else { return nil }
            state.issueHandle(for: phone, now: now, random: random)
            return state.phones[phone]?.handle
        }
        // What waits for a subscription ends with it, and could not be decrypted with the keys of another.
        if handle != nil, description(of: phone)?.platform == .browser {
            change(phone) { phone, now, effects in
                phone.dropKept(because: "the subscription has ended", now: now, effects: &effects)
            }
        }
        return handle?.text
    }

    /// Removes the app with its storage, what it showed, and what waits for it; its handle is unregistered from now on.
    package func uninstall(_ phone: PhoneID) {
        let now = clock.now()
        state.withLock { $0.retireHandle(of: phone, now: now) }
        change(phone) { phone, now, effects in phone.removeApp(now: now, effects: &effects) }
    }

    /// Installs the app afresh, after uninstalling it where it is still there, and returns its new handle.
    @discardableResult
    package func reinstall(_ phone: PhoneID) -> String? {
        if pushHandle(of: phone) != nil { uninstall(phone) }
        let now = clock.now()
        state.withLock { $0.issueHandle(for: phone, now: now, random: random) }
        change(phone) { phone, _, _ in phone.uninstalledSince = nil }
        launch(phone)
        return pushHandle(of: phone)
    }

    /// The app subscribes itself to an FCM topic, or to a broadcast channel of APNs.
    package func join(topic: String, on phone: PhoneID) {
        change(phone) { phone, _, _ in _ = phone.topics.insert(topic) }
    }

    /// The app leaves it.
    package func leave(topic: String, on phone: PhoneID) {
        change(phone) { phone, _, _ in _ = phone.topics.remove(topic) }
    }

    /// What is known of a handle. One that no phone has ever had becomes a phone of this description where the lab adopts
    /// handles and has room.
    func record(of handle: String, adoptingAs description: @autoclosure () -> PhoneDescription) -> HandleRecord? {
        let now = clock.now()
        return state.withLock { state in
            if let record = state.handles[handle] { return record }
            guard adoptsHandles, hasRoom(state), !isOutOfMemory(state) else { return nil }
            return state.adopt(handle, as: description(), now: now)
        }
    }

    /// Bytes of everything that has come to the phones of a lab for strangers, or waits for them.
    package static let standardStorageLimit = 4 << 30

    /// About as many bytes as everything takes that has come to phones, or waits for them.
    package var storedBytes: Int { state.withLock { $0.storedBytes } }

    /// Whether the services refuse all pushes, for want of memory.
    package var isOutOfMemory: Bool { state.withLock { isOutOfMemory($0) } }

    func isOutOfMemory(_ state: LabState) -> Bool { state.storedBytes >= storageLimit }

    /// Whether another phone may be added, by a session or by adoption.
    package var hasRoomForPhone: Bool {
        state.withLock { $0.phones.count + $0.crowd.count < adoptionLimit && !isOutOfMemory($0) }
    }

    /// Of a lab whose phones all have an inbox.
    package static let standardAdoptionLimit = 1_000_000

    /// Handles that were adopted, those that are only counted included.
    package var adoptedHandles: Int { state.withLock { $0.adopted + $0.crowd.count } }

    /// Whether a push is refused for want of room alone.
    ///
    /// - Parameter isKnown: whether a phone has the handle.
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
