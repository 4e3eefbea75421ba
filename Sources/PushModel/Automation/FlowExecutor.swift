/// Runs flow scripts for a server, which itself does not depend on their language.
package protocol FlowExecutor: Sendable {
    /// The parameters that a flow's script currently declares. Throws `script.*` if it is unreadable or fails before its declaration.
    func parameters(of flow: ServedFlow) async throws(PushError) -> FlowDescription
    /// Checks the named arguments of a run. Throws `args.invalid` (400) with every fault in its details, and `script.*`.
    ///
    /// - Parameter ignoringInvalidValues: whether undeclared and invalid arguments are dropped instead, for triggers that supply more than
    ///   each flow declares.
    func check(_ arguments: JSONObject, for flow: ServedFlow, ignoringInvalidValues: Bool) async throws(PushError) -> CheckedArguments
    /// Runs a flow until it ends. Cancelling the task cancels the run.
    ///
    /// - Parameter progress: receives progress in order.
    func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunResult
}

extension FlowExecutor {
    package func check(_ arguments: JSONObject, for flow: ServedFlow) async throws(PushError) -> CheckedArguments {
        try await check(arguments, for: flow, ignoringInvalidValues: false)
    }
}
