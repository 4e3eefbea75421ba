/// All phones, all handles, and who waits for them.
struct LabState: Sendable {
    var phones: [PhoneID: Phone] = [:]
    /// How many of them were made of handles that nobody gave out.
    private(set) var adopted = 0
    var address = ServiceAddress()
    /// By `PushHandle.address`.
    var handles: [String: HandleRecord] = [:]
    /// Registration tokens of FCM, alive and dead, by the ids of their installations.
    private(set) var installations: [String: String] = [:]
    /// Adopted phones that are only counted; none of them is among `phones`.
    var crowd = Crowd()
    /// Pushes that wait for the code of apps.
    private var mailboxes: [PhoneID: [AppDelivery]] = [:]
    /// Of all phones, and of what waits for them.
    var storedBytes = 0
    var deliveryWaiters = Waiters<AppDelivery>()
    var changeWaiters = Waiters<Int>()
    /// The first phone of each name.
    private(set) var names: [String: PhoneID] = [:]
    private var lastTicket = 0
    private var phoneCount = 0

    mutating func ticket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    mutating func add(_ description: PhoneDescription, now: Int64, random: SimulatorRandom) -> PhoneID {
        let id = addWithoutApp(description)
        issueHandle(for: id, now: now, random: random)
        return id
    }

    /// Adds a phone with a handle that nobody gave out; without a subscription its browser cannot decrypt anything.
    mutating func adopt(_ handle: String, as description: PhoneDescription, now: Int64) -> HandleRecord {
        let id = addWithoutApp(description)
        let record = HandleRecord(
            phone: id, platform: description.platform, app: description.app, environment: description.environment,
            project: description.project, subscription: nil, issuedAt: now)
        enter(record, at: handle)
        phones[id]?.handle = PushHandle(text: handle, address: handle)
        phones[id]?.isAdopted = true
        adopted += 1
        return record
    }

    private mutating func addWithoutApp(_ description: PhoneDescription) -> PhoneID {
        phoneCount += 1
        let id = PhoneID(number: phoneCount)
        phones[id] = Phone(id: id, description: description)
        if names[description.name] == nil { names[description.name] = id }
        return id
    }

    /// Gives the phone's app a new handle; the old one is dead from `now` on.
    mutating func issueHandle(for id: PhoneID, now: Int64, random: SimulatorRandom) {
        guard let description = phones[id]?.description else { return }
        retireHandle(of: id, now: now)
        let (handle, subscription) = HandleMint.handle(
            for: description, at: address.authority(of: description.platform), random: random)
        let record = HandleRecord(
            phone: id, platform: description.platform, app: description.app, environment: description.environment,
            project: description.project, subscription: subscription, issuedAt: now)
        enter(record, at: handle.address)
        phones[id]?.handle = handle
    }

    private mutating func enter(_ record: HandleRecord, at address: String) {
        handles[address] = record
        if record.platform == .fcm { installations[String(address.prefix { $0 != ":" })] = address }
    }

    mutating func retireHandle(of id: PhoneID, now: Int64) {
        guard let handle = phones[id]?.handle else { return }
        handles[handle.address]?.retiredAt = now
        phones[id]?.handle = nil
    }

    /// Forgets phones, and returns what is to be done outside of the lock.
    mutating func remove(_ ids: [PhoneID], now: Int64) -> [@Sendable () -> Void] {
        var actions: [@Sendable () -> Void] = []
        var freed: Set<String> = []
        for id in ids {
            guard let name = phones[id]?.description.name else { continue }
            retireHandle(of: id, now: now)
            if phones[id]?.isAdopted == true { adopted -= 1 }
            storedBytes -= (phones[id]?.storedBytes ?? 0) + (mailboxes[id] ?? []).reduce(0) { $0 + $1.storedBytes }
            phones[id] = nil
            mailboxes[id] = nil
            if names[name] == id { freed.insert(name) }
            while let waiter = deliveryWaiters.removeFirst(of: id) { actions.append { waiter.continuation.resume(returning: nil) } }
            for waiter in changeWaiters.removeAll(of: id, below: .max) { actions.append { waiter.continuation.resume(returning: nil) } }
        }
        for name in freed { names[name] = nil }
        for (id, phone) in phones.sorted(by: { $0.key < $1.key }) where freed.contains(phone.description.name) {
            if names[phone.description.name] == nil { names[phone.description.name] = id }
        }
        return actions
    }

    /// Forgets the phones of a name that have no app, and returns whether none is left, and what is to be done outside of the lock.
    mutating func free(_ name: String, now: Int64) -> (isFree: Bool, actions: [@Sendable () -> Void]) {
        var actions: [@Sendable () -> Void] = []
        while let id = names[name] {
            guard phones[id]?.handle == nil else { return (false, actions) }
            actions += remove([id], now: now)
        }
        return (true, actions)
    }

    /// Takes the first push out that waits for the code of an app.
    mutating func nextKept(of phone: PhoneID) -> AppDelivery? {
        guard mailboxes[phone]?.isEmpty == false, let first = mailboxes[phone]?.removeFirst() else { return nil }
        storedBytes -= first.storedBytes
        return first
    }

    private mutating func keep(_ delivery: AppDelivery, limit: Int?) {
        mailboxes[delivery.phone, default: []].append(delivery)
        storedBytes += delivery.storedBytes
        while let limit, mailboxes[delivery.phone]?.count ?? 0 > limit { _ = nextKept(of: delivery.phone) }
    }

    /// Routes what a change caused to those who wait for it, and returns what is to be done outside of the lock.
    ///
    /// - Parameter mailboxLimit: how many pushes may wait for the code of an app, the newest; all for nil.
    mutating func settle(_ effects: Effects, mailboxLimit: Int?) -> [@Sendable () -> Void] {
        var actions: [@Sendable () -> Void] = []
        for delivery in effects.wakes {
            if let waiter = deliveryWaiters.removeFirst(of: delivery.phone) {
                actions.append { waiter.continuation.resume(returning: delivery) }
            } else if phones[delivery.phone]?.description.handlesPushes == true {
                keep(delivery, limit: mailboxLimit)
            }
        }
        for id in effects.touched {
            let revision = phones[id]?.revision ?? 0
            for waiter in changeWaiters.removeAll(of: id, below: revision) {
                actions.append { waiter.continuation.resume(returning: revision) }
            }
        }
        return actions
    }
}
