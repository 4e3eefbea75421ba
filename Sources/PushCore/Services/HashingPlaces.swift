/// Lets few passwords be hashed at a time, since each takes 128 MiB; the others wait in a line that has an end. Part of an actor's
/// state.
struct HashingPlaces: Sendable {
    static let count = 2
    /// Some seconds' worth.
    static let longestLine = 32

    private var taken = 0
    private var line = Line<CheckedContinuation<Void, Never>>()

    var hasFullLine: Bool { line.count >= Self.longestLine }

    /// False when all are taken: then wait.
    mutating func take() -> Bool {
        guard taken < Self.count else { return false }
        taken += 1
        return true
    }

    /// The waiter has a place when it is resumed.
    mutating func wait(_ waiter: CheckedContinuation<Void, Never>) { line.append(waiter) }

    mutating func leave() {
        if let next = line.next() { next.resume() } else { taken -= 1 }
    }
}
