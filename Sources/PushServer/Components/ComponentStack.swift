import PushModel
import Synchronization

/// The open components of a server, in the order in which they were opened. They are closed in reverse order, each once.
final class ComponentStack: Sendable {
    private struct State {
        var open: [any OpenComponent] = []
        var isClosing = false
        /// Calls of ``close()`` that wait for the first one.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Opens components with `work`. If it throws, the components that it has added are closed, and its error is thrown; errors of closing
    /// are dropped.
    static func opening<Components>(
        _ work: (ComponentStack) async throws(PushError) -> Components
    ) async throws(PushError) -> Components {
        let stack = ComponentStack()
        do throws(PushError) {
            return try await work(stack)
        } catch {
            _ = await stack.close()
            throw error
        }
    }

    /// Adds an open component.
    ///
    /// - Parameter closing: finishes the component's work and releases what it has open.
    /// - Returns: the component.
    @discardableResult
    func add<Component: Sendable>(
        _ component: Component, closing: @escaping @Sendable (Component) async throws(PushError) -> Void
    ) -> Component {
        let opened = Opened(component: component, closing: closing)
        state.withLock { $0.open.append(opened) }
        return component
    }

    /// Closes the components in reverse order. A component that cannot be closed does not keep the others open. Further calls close
    /// nothing, and wait until the first one has closed everything. A component must not call this while it closes.
    ///
    /// - Returns: the errors of components that could not be closed, in the order of closing.
    func close() async -> [PushError] {
        let isFirst = state.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing
        }
        guard isFirst else {
            await closed()
            return []
        }
        var errors: [PushError] = []
        while let component = state.withLock({ $0.open.popLast() }) {
            do throws(PushError) {
                try await component.close()
            } catch {
                errors.append(error)
            }
        }
        let waiting = state.withLock { state in
            defer { (state.isClosing, state.waiting) = (false, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
        return errors
    }

    /// Waits until the call that closes the components has ended.
    private func closed() async {
        await withCheckedContinuation { continuation in
            let isClosing = state.withLock { state in
                if state.isClosing { state.waiting.append(continuation) }
                return state.isClosing
            }
            if !isClosing { continuation.resume() }
        }
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }
    /// The number of calls that wait for the first one.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
}

private protocol OpenComponent: Sendable {
    func close() async throws(PushError)
}

private struct Opened<Component: Sendable>: OpenComponent {
    let component: Component
    let closing: @Sendable (Component) async throws(PushError) -> Void

    func close() async throws(PushError) { try await closing(component) }
}
