/// The state of the lab: phones, handles and waiting tasks.
struct LabState: Sendable {
    var phones: [PhoneID: Phone] = [:]
    /// Number of phones created from unknown handles.
    private(set) var adopted = 0
    var address = ServiceAddress()
    /// By `PushHandle.address`: the valid handles, and the retired ones that are not forgotten.
    private(set) var handles: [String: HandleRecord] = [:]
    private var retired = RetiredHandles()
    /// Registration tokens of FCM, valid or not, by installation id.
    private(set) var installations: [String: String] = [:]
    /// Adopted phones that are only counted; none of them is in `phones`.
    var countedPhones = CountedPhones()
    /// Pushes waiting for the code of apps.
    private var mailboxes: [PhoneID: [AppDelivery]] = [:]
    /// Approximate size of everything on phones, of waiting pushes and of retired handles, in bytes.
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

    /// Adds a phone for an unknown handle. Without a subscription, its browser cannot decrypt anything.
    mutating func adopt(_ handle: String, as description: PhoneDescription, now: Int64) -> HandleRecord {
        let id = addWithoutApp(description)
        let record = HandleRecord(
            phone: id, platform: description.platform, app: description.app.id, environment: description.app.environment,
            project: description.app.project, subscription: nil, issuedAt: now)
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

    /// Gives the phone's app a new handle; the old one is invalid from `now` on.
    mutating func issueHandle(for id: PhoneID, now: Int64, random: SimulatorRandom) {
        guard let description = phones[id]?.description else { return }
        retireHandle(of: id, now: now)
        let (handle, subscription) = HandleGenerator.handle(
            for: description, at: address.authority(of: description.platform), random: random)
        let record = HandleRecord(
            phone: id, platform: description.platform, app: description.app.id, environment: description.app.environment,
            project: description.app.project, subscription: subscription, issuedAt: now)
        enter(record, at: handle.address)
        phones[id]?.handle = handle
    }

    private mutating func enter(_ record: HandleRecord, at address: String) {
        handles[address] = record
        if record.platform == .fcm { installations[Self.installation(of: address)] = address }
    }

    mutating func retireHandle(of id: PhoneID, now: Int64) {
        guard let address = phones[id]?.handle?.address else { return }
        handles[address]?.retiredAt = now
        phones[id]?.handle = nil
        storedBytes += handles[address]?.storedBytes(at: address) ?? 0
        if let forgotten = retired.add(address, of: id) { forget(forgotten) }
    }

    /// Removes a retired handle, which the services do not know any more.
    private mutating func forget(_ address: String) {
        guard let record = handles.removeValue(forKey: address) else { return }
        if record.platform == .fcm { installations[Self.installation(of: address)] = nil }
        storedBytes -= record.storedBytes(at: address)
    }

    /// The installation id of an FCM registration token.
    private static func installation(of token: String) -> String { String(token.prefix { $0 != ":" }) }

    /// Removes phones, and returns actions to run outside of the lock.
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
            for address in retired.removed(id) { forget(address) }
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

    /// Removes phones with this name that have no app. Returns whether the name is free, and actions to run outside of the lock.
    mutating func free(_ name: String, now: Int64) -> (isFree: Bool, actions: [@Sendable () -> Void]) {
        var actions: [@Sendable () -> Void] = []
        while let id = names[name] {
            guard phones[id]?.handle == nil else { return (false, actions) }
            actions += remove([id], now: now)
        }
        return (true, actions)
    }

    /// Removes and returns the first push that waits for the code of an app.
    mutating func nextStored(of phone: PhoneID) -> AppDelivery? {
        guard mailboxes[phone]?.isEmpty == false, let first = mailboxes[phone]?.removeFirst() else { return nil }
        storedBytes -= first.storedBytes
        return first
    }

    private mutating func keep(_ delivery: AppDelivery, limit: Int?) {
        mailboxes[delivery.phone, default: []].append(delivery)
        storedBytes += delivery.storedBytes
        while let limit, mailboxes[delivery.phone]?.count ?? 0 > limit { _ = nextStored(of: delivery.phone) }
    }

    /// Resumes the tasks that wait for the effects of a change, by returning actions to run outside of the lock.
    ///
    /// - Parameter mailboxLimit: Maximum number of pushes that wait for an app's code; the oldest are dropped. `nil` for no limit.
    mutating func settle(_ effects: Effects, mailboxLimit: Int?) -> [@Sendable () -> Void] {
        var actions: [@Sendable () -> Void] = []
        for delivery in effects.wakes {
            if let waiter = deliveryWaiters.removeFirst(of: delivery.phone) {
                actions.append { waiter.continuation.resume(returning: delivery) }
            } else if phones[delivery.phone]?.description.app.handlesPushes == true {
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
