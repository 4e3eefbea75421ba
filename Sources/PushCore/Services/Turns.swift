/// Lets one change at a time at each key; whoever comes later waits in line. Part of an actor's state.
package struct Turns<Key: Hashable & Sendable>: Sendable {
    /// Who waits behind the one whose turn it is.
    private var lines: [Key: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    /// Those that somebody has.
    var taken: [Key] { Array(lines.keys) }

    package func isTaken(_ key: Key) -> Bool { lines[key] != nil }

    /// False when it is somebody else's turn: then wait.
    package mutating func take(_ key: Key) -> Bool {
        guard lines[key] == nil else { return false }
        lines[key] = []
        return true
    }

    /// It is the waiter's turn when it is resumed.
    package mutating func wait(_ key: Key, _ waiter: CheckedContinuation<Void, Never>) {
        lines[key, default: []].append(waiter)
    }

    package mutating func leave(_ key: Key) {
        guard var line = lines[key] else { return }
        guard !line.isEmpty else {
            lines[key] = nil
            return
        }
        let next = line.removeFirst()
        lines[key] = line
        next.resume()
    }
}
