/// The pushes that a service stores for an unreachable phone, oldest first.
struct StoredPushes: Sendable {
    private(set) var pushes: [AcceptedPush] = []
    var storedBytes: Int { pushes.reduce(0) { $0 + $1.storedBytes } }

    /// A stored push that was removed to make room.
    enum Loss: Equatable {
        case replaced(id: String)
        case dropped(id: String, reason: String)
    }

    /// Stores a push and returns those that it displaced.
    mutating func keep(_ push: AcceptedPush, as storagePolicy: AcceptedPush.StoragePolicy) -> [Loss] {
        var losses: [Loss] = []
        let rivals = pushes.filter { $0.storagePolicy?.slot == storagePolicy.slot }
        if rivals.count >= storagePolicy.capacity {
            let leaving = Set(
                (storagePolicy.clearsWhenFull ? rivals[...] : rivals.prefix(rivals.count - storagePolicy.capacity + 1)).map(\.id))
            pushes.removeAll { leaving.contains($0.id) }
            losses += rivals.filter { leaving.contains($0.id) }.map { rival in
                storagePolicy.clearsWhenFull
                    ? .dropped(id: rival.id, reason: "more than \(storagePolicy.capacity) messages were waiting")
                    : .replaced(id: rival.id)
            }
        }
        pushes.append(push)
        return losses + overflow(of: storagePolicy)
    }

    private mutating func overflow(of storagePolicy: AcceptedPush.StoragePolicy) -> [Loss] {
        guard let family = storagePolicy.family else { return [] }
        var slots: [String] = []
        for case let stored? in pushes.reversed().map(\.storagePolicy) where stored.family == family {
            if !slots.contains(stored.slot) { slots.append(stored.slot) }
        }
        let leaving = Set(slots.dropFirst(storagePolicy.slots))
        let dropped = pushes.filter { $0.storagePolicy.map { leaving.contains($0.slot) && $0.family == family } ?? false }
        let ids = Set(dropped.map(\.id))
        pushes.removeAll { ids.contains($0.id) }
        return dropped.map { .dropped(id: $0.id, reason: "at most \(storagePolicy.slots) of this kind are stored") }
    }

    /// Removes stored pushes with the topic of a push that is delivered now; returns their ids.
    mutating func giveUp(topic: String?) -> [String] {
        guard let topic else { return [] }
        let ids = pushes.filter { $0.topic == topic }.map(\.id)
        pushes.removeAll { $0.topic == topic }
        return ids
    }

    /// Removes and returns all pushes.
    mutating func takeAll() -> [AcceptedPush] {
        defer { pushes = [] }
        return pushes
    }
}
