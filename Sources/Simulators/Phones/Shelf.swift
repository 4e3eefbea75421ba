/// The pushes that a service stores for an unreachable phone, oldest first.
struct Shelf: Sendable {
    private(set) var parcels: [AcceptedPush] = []
    var storedBytes: Int { parcels.reduce(0) { $0 + $1.storedBytes } }

    /// A stored push that was removed to make room.
    enum Loss: Equatable {
        case replaced(id: String)
        case dropped(id: String, reason: String)
    }

    /// Stores a push and returns those that it displaced.
    mutating func keep(_ parcel: AcceptedPush, as keeping: AcceptedPush.Keeping) -> [Loss] {
        var losses: [Loss] = []
        let rivals = parcels.filter { $0.keeping?.slot == keeping.slot }
        if rivals.count >= keeping.capacity {
            let leaving = Set(
                (keeping.clearsWhenFull ? rivals[...] : rivals.prefix(rivals.count - keeping.capacity + 1)).map(\.id))
            parcels.removeAll { leaving.contains($0.id) }
            losses += rivals.filter { leaving.contains($0.id) }.map { rival in
                keeping.clearsWhenFull
                    ? .dropped(id: rival.id, reason: "more than \(keeping.capacity) messages were waiting")
                    : .replaced(id: rival.id)
            }
        }
        parcels.append(parcel)
        return losses + overflow(of: keeping)
    }

    private mutating func overflow(of keeping: AcceptedPush.Keeping) -> [Loss] {
        guard let family = keeping.family else { return [] }
        var slots: [String] = []
        for case let kept? in parcels.reversed().map(\.keeping) where kept.family == family {
            if !slots.contains(kept.slot) { slots.append(kept.slot) }
        }
        let leaving = Set(slots.dropFirst(keeping.slots))
        let gone = parcels.filter { $0.keeping.map { leaving.contains($0.slot) && $0.family == family } ?? false }
        let ids = Set(gone.map(\.id))
        parcels.removeAll { ids.contains($0.id) }
        return gone.map { .dropped(id: $0.id, reason: "at most \(keeping.slots) of this kind are stored") }
    }

    /// Removes stored pushes with the topic of a push that is delivered now; returns their ids.
    mutating func giveUp(topic: String?) -> [String] {
        guard let topic else { return [] }
        let ids = parcels.filter { $0.topic == topic }.map(\.id)
        parcels.removeAll { $0.topic == topic }
        return ids
    }

    /// Removes and returns all pushes.
    mutating func takeAll() -> [AcceptedPush] {
        defer { parcels = [] }
        return parcels
    }
}
