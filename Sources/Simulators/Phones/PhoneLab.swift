import Synchronization

/// All simulated phones, with the handles that the push services gave them.
///
/// Nothing runs by itself: a phone changes when a service delivers, or when one of these methods is called. An unknown phone has no handle,
/// an empty inbox and no storage; changes to it have no effect.
package final class PhoneLab: Sendable {
    let clock: SimulatorClock
    private let random: SimulatorRandom
    let adoption: HandleAdoption
    private let inboxLimit: Int?
    private let storageLimit: Int
    private let observer: PhoneObserver?
    let state = Mutex(LabState())

    /// - Parameters:
    ///   - inboxLimit: Maximum number of inbox items per phone, and of pushes waiting for its app's code; the oldest are dropped. `nil` for
    ///     no limit.
    ///   - storageLimit: Maximum size of all phones, in bytes; beyond it the services reject pushes.
    package init(
        clock: SimulatorClock, random: SimulatorRandom, adoption: HandleAdoption = .disabled, inboxLimit: Int? = nil,
        storageLimit: Int = .max, observer: PhoneObserver? = nil
    ) {
        self.clock = clock
        self.random = random
        self.adoption = adoption
        self.inboxLimit = inboxLimit
        self.storageLimit = storageLimit
        self.observer = observer
    }

    /// Maximum number of adopted handles, including counted ones.
    package var adoptionLimit: Int { adoption.limit }

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
        let (phone, actions) = withState { state in
            let (isFree, actions) = state.free(description.name, now: now)
            return (isFree ? state.add(description, now: now, random: random) : nil, actions)
        }
        for action in actions { action() }
        return phone
    }

    /// Removes phones with all their data; their handles are unregistered from now on.
    package func remove(_ phones: [PhoneID]) {
        let now = clock.now()
        let actions = withState { $0.remove(phones, now: now) }
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
        change(phone) { phone, _, _ in phone.description.app.handlesPushes = handles }
    }

    /// The app shows an item itself.
    @discardableResult
    package func showLocal(title: String, body: String, on phone: PhoneID) -> InboxItem? {
        change(phone) { phone, now, effects in
            phone.showLocal(title: title, body: body, now: now, effects: &effects)
        }
    }

    /// Gives the app a new handle and returns it; the old one is unregistered from now on, and unknown after
    /// ``RetiredHandles/limitPerPhone`` more. Returns `nil` if the app is not installed.
    @discardableResult
    package func rotateToken(of phone: PhoneID) -> String? {
        let now = clock.now()
        let handle = withState { state -> PushHandle? in
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
        withState { $0.retireHandle(of: phone, now: now) }
        change(phone) { phone, now, effects in phone.removeApp(now: now, effects: &effects) }
    }

    /// Installs the app, after uninstalling it if necessary, and returns its new handle.
    @discardableResult
    package func reinstall(_ phone: PhoneID) -> String? {
        if pushHandle(of: phone) != nil { uninstall(phone) }
        let now = clock.now()
        withState { $0.issueHandle(for: phone, now: now, random: random) }
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
            guard adoption.isEnabled, canAdopt(state), !isOutOfMemory(state) else { return nil }
            return state.adopt(handle, as: description(), now: now)
        }
    }

    /// The default storage limit of a lab that adopts handles, in bytes.
    package static let defaultStorageLimit = 4 << 30

    /// Approximate size of everything that arrived on phones or is stored for them, and of retired handles, in bytes.
    package var storedBytes: Int { state.withLock { $0.storedBytes } }

    /// Whether the services reject all pushes because the storage limit is reached.
    package var isOutOfMemory: Bool { state.withLock { isOutOfMemory($0) } }

    func isOutOfMemory(_ state: LabState) -> Bool { state.storedBytes >= storageLimit }

    /// Whether another phone may be added, by a session or by adoption.
    package var canAddPhone: Bool {
        state.withLock { $0.phones.count + $0.countedPhones.count < adoptionLimit && !isOutOfMemory($0) }
    }

    /// Number of adopted handles, including counted ones.
    package var adoptedHandles: Int { state.withLock { $0.adopted + $0.countedPhones.count } }

    /// Whether a push is rejected only because the lab has reached its limits.
    ///
    /// - Parameter isKnown: Whether a phone has the handle.
    func isFull(isKnown: Bool) -> Bool { isOutOfMemory || !isKnown && adoption.isEnabled && !state.withLock { canAdopt($0) } }

    func canAdopt(_ state: LabState) -> Bool { state.adopted + state.countedPhones.count < adoptionLimit }

    /// The device tokens of the lab's iPhones.
    var deviceTokens: DeviceTokens { DeviceTokens(lab: self) }

    // MARK: - Services

    func record(of handle: String) -> HandleRecord? { state.withLock { $0.handles[handle] } }

    /// The registration token of an FCM app by its installation id, which is the first part of the token.
    func token(ofInstallation id: String) -> String? { state.withLock { $0.installations[id] } }

    /// The subscription of a browser's app; `nil` if its keys are unknown, or for another platform.
    func subscription(of phone: PhoneID) -> WebPushSubscription? {
        state.withLock { state in state.phones[phone]?.handle.flatMap { state.handles[$0.address]?.subscription } }
    }

    /// FCM apps of a project with their topics, in the order in which the phones were added.
    func subscribers(project: String) -> [(phone: PhoneID, topics: Set<String>)] {
        state.withLock { state in
            state.phones.values
                .filter {
                    $0.description.platform == .fcm && $0.handle != nil
                        && ($0.description.app.project ?? project) == project
                }
                .sorted { $0.id < $1.id }.map { ($0.id, $0.topics) }
        }
    }

    /// iPhones whose app has subscribed to a broadcast channel, in the order in which they were added.
    func subscribers(channel: String, app: String, environment: APNsEnvironment) -> [PhoneID] {
        state.withLock { state in
            state.phones.values
                .filter {
                    $0.description.platform == .apns && $0.handle != nil && $0.description.app.id == app
                        && $0.description.app.environment == environment && $0.topics.contains(channel)
                }
                .map(\.id).sorted()
        }
    }

    func accept(_ push: AcceptedPush, for phone: PhoneID) {
        change(phone) { phone, now, effects in phone.accept(push, now: now, effects: &effects) }
    }

    // MARK: - Waiting

    /// Returns the next push that wakes the app's code; `nil` if the waiting task is cancelled.
    ///
    /// On a phone with `handlesPushes`, pushes that arrive while no task waits are stored and returned first, in order.
    package func nextDelivery(for phone: PhoneID) async -> AppDelivery? {
        let ticket = state.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = withState { state -> AppDelivery?? in
                    if let stored = state.nextStored(of: phone) { return stored }
                    if Task.isCancelled { return .some(nil) }
                    state.deliveryWaiters.join(.init(ticket: ticket, phone: phone, continuation: continuation))
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            state.withLock { $0.deliveryWaiters.remove(ticket: ticket) }?.continuation.resume(returning: nil)
        }
    }

    /// Waits until the phone's revision exceeds `revision`, and returns it; `nil` if cancelled.
    ///
    /// To miss no change: read `revision(of:)`, look at the phone, then wait for later changes.
    package func nextChange(of phone: PhoneID, after revision: Int) async -> Int? {
        let ticket = state.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Int?? in
                    if let current = state.phones[phone]?.revision, current > revision { return .some(current) }
                    if Task.isCancelled { return .some(nil) }
                    state.changeWaiters.join(
                        .init(ticket: ticket, phone: phone, continuation: continuation, threshold: revision))
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            state.withLock { $0.changeWaiters.remove(ticket: ticket) }?.continuation.resume(returning: nil)
        }
    }

    // MARK: - Changes

    /// Changes the state, and reports how much its stored bytes have changed.
    @discardableResult
    private func withState<Result: Sendable>(_ body: (inout LabState) -> Result) -> Result {
        let (result, grown) = state.withLock { state in
            let before = state.storedBytes
            let result = body(&state)
            return (result, state.storedBytes - before)
        }
        if grown != 0 { observer?.grew(grown) }
        return result
    }

    private func read(_ phone: PhoneID) -> Phone? { state.withLock { $0.phones[phone] } }

    @discardableResult
    func change<Result: Sendable>(
        _ phone: PhoneID, _ body: (inout Phone, Int64, inout Effects) -> Result
    ) -> Result? {
        let now = clock.now()
        let (result, effects, actions) = withState { state in
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
        for event in effects.events { observer?.event(event) }
        for delivery in effects.wakes { observer?.wake(delivery) }
        for action in actions { action() }
        return result
    }
}
