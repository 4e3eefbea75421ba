/// The pushes that a service keeps for an offline phone, oldest first.
struct Shelf: Sendable {
    private(set) var parcels: [Parcel] = []
    var storedBytes: Int { parcels.reduce(0) { $0 + $1.storedBytes } }

    /// What had to go to make room.
    enum Loss: Equatable {
        case replaced(id: String)
        case dropped(id: String, reason: String)
    }

    /// Keeps a push and tells what it pushed out.
    mutating func keep(_ parcel: Parcel, as keeping: Parcel.Keeping) -> [Loss] {
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

    private mutating func overflow(of keeping: Parcel.Keeping) -> [Loss] {
        guard let family = keeping.family else { return [] }
        var slots: [String] = []
        for case let kept? in parcels.reversed().map(\.keeping) where kept.family == family {
            if !slots.contains(kept.slot) { slots.append(kept.slot) }
        }
        let leaving = Set(slots.dropFirst(keeping.slots))
        let gone = parcels.filter { $0.keeping.map { leaving.contains($0.slot) && $0.family == family } ?? false }
        let ids = Set(gone.map(\.id))
        parcels.removeAll { ids.contains($0.id) }
        return gone.map { .dropped(id: $0.id, reason: "only \(keeping.slots) of the kind may wait") }
    }

    /// Gives up what has the same topic as one that comes at once; answers the ids.
    mutating func giveUp(topic: String?) -> [String] {
        guard let topic else { return [] }
        let ids = parcels.filter { $0.topic == topic }.map(\.id)
        parcels.removeAll { $0.topic == topic }
        return ids
    }

    /// Hands over everything and is empty afterwards.
    mutating func takeAll() -> [Parcel] {
        defer { parcels = [] }
        return parcels
    }
}
