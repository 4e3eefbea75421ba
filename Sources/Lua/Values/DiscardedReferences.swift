import Synchronization

/// Registry references that the host no longer needs. Any thread can add one; the state's thread frees them.
final class DiscardedReferences: Sendable {
    private let discarded = Mutex<[Int32]>([])

    func discard(_ reference: Int32) {
        discarded.withLock { $0.append(reference) }
    }

    func empty() -> [Int32] {
        discarded.withLock { list in
            if list.isEmpty { return [] }
            defer { list = [] }
            return list
        }
    }
}
