/// The state of one phone and its app.
struct Phone: Sendable {
    let id: PhoneID
    var description: PhoneDescription
    /// Whether it was created from an unknown handle.
    var isAdopted = false
    /// `nil` once the app was uninstalled.
    var handle: PushHandle?
    /// Milliseconds since 1970, like all times here; `nil` while it is online.
    var offlineSince: Int64?
    /// Set in low power mode: pushes that are not urgent wait.
    var lowPowerSince: Int64?
    /// Set when the user closed the app for good (APNs: swiped away; FCM: force-stopped; WNS: terminated; browsers: quit).
    var closedSince: Int64?
    var uninstalledSince: Int64?
    private(set) var inbox: [InboxItem] = []
    /// Approximate size of the inbox, in bytes.
    private var inboxBytes = 0
    var storedPushes = StoredPushes()
    private(set) var storage: [String: String] = [:]
    private var storageBytes = 0
    var badge: String?
    var tiles: [[String]] = []
    var topics: Set<String> = []
    /// The latest events of pushes, in order.
    private(set) var history: [PhoneEvent] = []
    /// Counts the changes visible to the user or a script.
    var revision = 0
    private var activity = LiveActivity()
    private var tileTags: [String?] = []
    private var localCount = 0
    /// When background pushes woke the app in the last hour, in milliseconds since 1970.
    private var wakings: [Int64] = []

    init(id: PhoneID, description: PhoneDescription) {
        self.id = id
        self.description = description
    }

    var isOnline: Bool { offlineSince == nil }
    var isInLowPower: Bool { lowPowerSince != nil }
    var isForceQuit: Bool { closedSince != nil }

    /// Approximate size of everything that arrived on the phone or is stored for it, in bytes.
    var storedBytes: Int { inboxBytes + storageBytes + storedPushes.storedBytes }

    private static let historyLimit = 200

    /// Adds this phone's events to its history; the oldest ones are dropped.
    mutating func note(_ events: [PhoneEvent]) {
        history += events.filter { $0.phone == id }
        if history.count > Self.historyLimit + Self.historyLimit / 4 { history.removeFirst(history.count - Self.historyLimit) }
    }

    // Reasons for lost pushes, as in the events.
    static let closedApp = "the user closed the app"
    static let uninstalledApp = "the app was uninstalled"
    static let cannotBeStored = " and the push may not be stored"
    // Reasons for delivered pushes that are not shown.
    static let leftToApp = "left to the app's code"
    static let backgroundPush = "a background push shows nothing"

    /// Whether the service has a connection to it. The system keeps one even if the app is closed; a browser must be running.
    private var isReachable: Bool { isOnline && !(isForceQuit && description.platform == .browser) }

    /// Why a push cannot be delivered now, and how it is stored until then; `nil` if it can be delivered.
    private func obstacle(to push: AcceptedPush) -> (words: String, event: PhoneEvent.Kind, storagePolicy: AcceptedPush.StoragePolicy?)? {
        guard isReachable else { return (absence, .stored, push.storagePolicy) }
        guard isInLowPower, case .waits(let storagePolicy) = push.lowPower else { return nil }
        return ("the phone is in low power mode", .deferred, storagePolicy)
    }

    /// Accepts a push from the service: delivers it, or stores it while the phone is unreachable or in low power mode.
    mutating func accept(_ push: AcceptedPush, now: Int64, effects: inout Effects) {
        guard let obstacle = obstacle(to: push) else {
            for id in storedPushes.giveUp(topic: push.topic) { effects.record(.replaced(by: push.id), id, self, now) }
            return deliver(push, now: now, effects: &effects)
        }
        guard let storagePolicy = obstacle.storagePolicy, storagePolicy.until > now else {
            return effects.record(
                .dropped(reason: obstacle.words + Self.cannotBeStored), push.id, self, now)
        }
        var push = push
        push.storagePolicy = storagePolicy
        if obstacle.event != .deferred || !push.isDeferred { effects.record(obstacle.event, push.id, self, now) }
        push.isDeferred = obstacle.event == .deferred
        for loss in storedPushes.keep(push, as: storagePolicy) {
            switch loss {
            case .replaced(let id): effects.record(.replaced(by: push.id), id, self, now)
            case .dropped(let id, let reason): effects.record(.dropped(reason: reason), id, self, now)
            }
        }
    }

    private var absence: String { isOnline ? "the browser is closed" : "the phone is offline" }

    /// Goes online and receives the stored pushes that have not expired.
    mutating func comeOnline(now: Int64, effects: inout Effects) {
        offlineSince = nil
        receiveStored(now: now, effects: &effects)
    }

    /// Leaves low power mode and receives the pushes that waited for it.
    mutating func endLowPower(now: Int64, effects: inout Effects) {
        lowPowerSince = nil
        receiveStored(now: now, effects: &effects)
    }

    /// The user starts the app; a browser receives its stored pushes.
    mutating func launch(now: Int64, effects: inout Effects) {
        closedSince = nil
        wakings = []
        receiveStored(now: now, effects: &effects)
    }

    private mutating func receiveStored(now: Int64, effects: inout Effects) {
        guard isReachable else { return }
        for push in storedPushes.takeAll() {
            if let until = push.storagePolicy?.until, until <= now {
                effects.record(.expired, push.id, self, now)
            } else {
                // The push may now have to wait for full power.
                accept(push, now: now, effects: &effects)
            }
        }
    }

    /// Changes the phone in place.
    mutating func apply<Result>(_ body: (inout Phone) -> Result) -> Result { body(&self) }

    /// Drops the oldest items beyond `limit`. To drop rarely, up to a quarter more may remain.
    mutating func trimInbox(to limit: Int) {
        guard inbox.count > limit + limit / 4 else { return }
        inboxBytes -= inbox.prefix(inbox.count - limit).reduce(0) { $0 + $1.storedBytes }
        inbox.removeFirst(inbox.count - limit)
    }

    private mutating func add(_ item: InboxItem) {
        inbox.append(item)
        inboxBytes += item.storedBytes
        revision += 1
    }

    /// Stores a text of the app; `nil` removes it.
    mutating func store(_ value: String?, forKey key: String) {
        if let old = storage[key] { storageBytes -= key.utf8.count + old.utf8.count }
        storage[key] = value
        if let value { storageBytes += key.utf8.count + value.utf8.count }
    }

    /// Drops all stored pushes.
    mutating func dropStored(because reason: String, now: Int64, effects: inout Effects) {
        for push in storedPushes.takeAll() { effects.record(.dropped(reason: reason), push.id, self, now) }
    }

    /// Removes the app and all its data.
    mutating func removeApp(now: Int64, effects: inout Effects) {
        uninstalledSince = now
        dropStored(because: Self.uninstalledApp, now: now, effects: &effects)
        for index in inbox.indices where inbox[index].isShown {
            inbox[index].display.isShown = false
            inbox[index].display.reasonNotShown = Self.uninstalledApp
        }
        (storage, storageBytes) = ([:], 0)
        badge = nil
        activity = LiveActivity()
        (tiles, tileTags) = ([], [])
        topics = []
        revision += 1
    }

    /// Shows an item of the app itself.
    mutating func showLocal(title: String, body: String, now: Int64, effects: inout Effects) -> InboxItem {
        localCount += 1
        let push = AcceptedPush(id: "local-\(localCount)", data: [])
        return file(push, Banner(title: title, body: body), source: .local, now: now, effects: &effects)
    }

    private mutating func deliver(_ push: AcceptedPush, now: Int64, effects: inout Effects) {
        if push.needsApp, isForceQuit {
            return lose(push, Self.closedApp, now: now, effects: &effects)
        }
        effects.record(.delivered, push.id, self, now)
        if let fault = push.fault { return lose(push, fault, now: now, effects: &effects) }
        if push.hasWakingBudget {
            wakings.removeAll { $0 <= now - Self.wakingPeriod }
            guard wakings.count < Self.wakingsPerPeriod else {
                return lose(push, "the app's background pushes of this hour are used up", now: now, effects: &effects)
            }
            wakings.append(now)
        }
        if let change = push.activity {
            if let reason = activity.apply(change) { return lose(push, reason, now: now, effects: &effects) }
            var banner = push.banner ?? Banner(body: change.state)
            banner.replacementKey = LiveActivity.place
            file(push, banner, source: .push, now: now, effects: &effects)
            return
        }
        if let count = push.badgeCount { badge = count == 0 ? nil : String(count) }
        if let surface = push.surface { return change(surface) }
        let wakes = push.wakesApp && (!isForceQuit || push.outlivesApp)
        let byApp = description.app.handlesPushes || !wakes ? nil : push.appBanner
        file(push, push.banner ?? byApp, source: .push, now: now, effects: &effects)
        if wakes { effects.wake(AppDelivery(phone: id, id: push.id, receivedAt: now, data: push.data)) }
    }

    /// "Two or three per hour" (Apple, "Pushing background updates to your App").
    private static let wakingsPerPeriod = 3
    private static let wakingPeriod: Int64 = 3_600_000

    private mutating func lose(_ push: AcceptedPush, _ reason: String, now: Int64, effects: inout Effects) {
        effects.record(.dropped(reason: reason), push.id, self, now)
        var item = item(of: push, push.banner ?? Banner(), source: .push, now: now)
        item.display.reasonNotShown = reason
        add(item)
    }

    private mutating func change(_ surface: AcceptedPush.Surface) {
        revision += 1
        switch surface {
        case .badge(let value): badge = value == "0" || value == "none" ? nil : value
        case .tile(let texts, let tag):
            if let tag, let index = tileTags.firstIndex(of: tag) {
                tiles.remove(at: index)
                tileTags.remove(at: index)
            }
            tiles = Array((tiles + [texts]).suffix(5))
            tileTags = Array((tileTags + [tag]).suffix(5))
        }
    }

    @discardableResult
    private mutating func file(
        _ push: AcceptedPush, _ banner: Banner?, source: InboxItem.Source, now: Int64, effects: inout Effects
    ) -> InboxItem {
        var item = item(of: push, banner ?? Banner(), source: source, now: now)
        item.display.isShown = banner.map { !$0.isEmpty } ?? false
        if item.isShown {
            replace(item.banner.replacementKey, by: item.id, now: now, effects: &effects)
            effects.record(.shown(text: item.text), item.id, self, now)
        } else {
            item.display.reasonNotShown =
                push.isBackground || push.appBanner != nil
                ? (description.app.handlesPushes ? Self.leftToApp : Self.backgroundPush)
                : "the push has no text"
        }
        add(item)
        return item
    }

    private mutating func replace(_ key: String?, by id: String, now: Int64, effects: inout Effects) {
        guard let key else { return }
        for index in inbox.indices where inbox[index].isShown && inbox[index].banner.replacementKey == key {
            inbox[index].display.isShown = false
            inbox[index].display.reasonNotShown = "replaced by \(id)"
            effects.record(.replaced(by: id), inbox[index].id, self, now)
        }
    }

    private func item(of push: AcceptedPush, _ banner: Banner, source: InboxItem.Source, now: Int64) -> InboxItem {
        InboxItem(
            id: push.id, receivedAt: now, source: source, banner: banner, badge: push.badgeCount, data: push.data,
            isBackground: push.isBackground)
    }
}
