import Synchronization

/// Registry references that the host no longer needs, left by any thread for the state's thread to free.
final class ReferenceBin: Sendable {
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
