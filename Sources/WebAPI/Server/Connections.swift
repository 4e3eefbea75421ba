import NIOCore
import Synchronization

/// The open connections of all ports. Where there are as many as may be, the one that has been idle the longest makes room for
/// a new one: whoever holds many and says nothing keeps nobody out.
package final class Connections: Sendable {
    private struct Entry {
        let channel: any Channel
        /// Its place among those that are idle; nil while it has a request.
        var turn: Int?
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Those that became idle, the first the longest ago. What stands here with an old turn has left meanwhile.
        var idle: [(turn: Int, id: ObjectIdentifier)] = []
        var first = 0
        var turn = 0

        mutating func rest(_ id: ObjectIdentifier) {
            turn += 1
            entries[id]?.turn = turn
            idle.append((turn, id))
            guard idle.count > 64, idle.count > 4 * entries.count else { return }
            idle = idle[first...].filter { entries[$0.id]?.turn == $0.turn }
            first = 0
        }

        mutating func longestIdle() -> Entry? {
            while first < idle.count {
                let (turn, id) = idle[first]
                first += 1
                if entries[id]?.turn == turn { return entries.removeValue(forKey: id) }
            }
            return nil
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) {
        self.limit = limit
    }

    package var count: Int { state.withLock { $0.entries.count } }

    /// False where there is no room, because all others have requests.
    func open(_ channel: any Channel) -> Bool {
        let (isOpen, leaving) = state.withLock { state -> (Bool, (any Channel)?) in
            var leaving: (any Channel)?
            if state.entries.count >= limit {
                guard let entry = state.longestIdle() else { return (false, nil) }
                leaving = entry.channel
            }
            let id = ObjectIdentifier(channel)
            state.entries[id] = Entry(channel: channel)
            state.rest(id)
            return (true, leaving)
        }
        leaving?.close(promise: nil)
        return isOpen
    }

    func close(_ channel: any Channel) {
        state.withLock { _ = $0.entries.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    func busy(_ channel: any Channel) { state.withLock { $0.entries[ObjectIdentifier(channel)]?.turn = nil } }

    func idle(_ channel: any Channel) {
        state.withLock { state in
            if state.entries[ObjectIdentifier(channel)] != nil { state.rest(ObjectIdentifier(channel)) }
        }
    }
}
