import Dispatch

/// Blocks a Dispatch thread until it is opened.
final class Gate: Sendable {
    private let group = DispatchGroup()

    init() { group.enter() }

    func open() { group.leave() }

    func wait() { group.wait() }
}
