import PushModel
import Synchronization

/// The open components of a server, in the order in which they were opened. They are closed in reverse order, each once.
final class ComponentStack: Sendable {
    private let open = Mutex<[any OpenComponent]>([])

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
        open.withLock { $0.append(opened) }
        return component
    }

    /// Closes the components in reverse order. A component that cannot be closed does not keep the others open. Further calls do nothing.
    ///
    /// - Returns: the errors of components that could not be closed, in the order of closing.
    func close() async -> [PushError] {
        var errors: [PushError] = []
        while let component = open.withLock({ $0.popLast() }) {
            do throws(PushError) {
                try await component.close()
            } catch {
                errors.append(error)
            }
        }
        return errors
    }
}

private protocol OpenComponent: Sendable {
    func close() async throws(PushError)
}

private struct Opened<Component: Sendable>: OpenComponent {
    let component: Component
    let closing: @Sendable (Component) async throws(PushError) -> Void

    func close() async throws(PushError) { try await closing(component) }
}
