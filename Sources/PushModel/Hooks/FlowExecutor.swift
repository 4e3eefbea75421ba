/// Runs flow scripts for a server, which itself does not depend on their language.
package protocol FlowExecutor: Sendable {
    /// The parameters that a flow's script currently declares. Throws `script.*` if it is unreadable or fails before its declaration.
    func parameters(of flow: ServedFlow) async throws(PushError) -> FlowDescription
    /// Checks the named arguments of a run. Throws `args.invalid` (400) with every fault in its details, and `script.*`.
    ///
    /// - Parameter takingWhatFits: whether undeclared or unfitting arguments are dropped instead, for triggers that supply more than each
    ///   flow declares.
    func check(_ arguments: JSONObject, for flow: ServedFlow, ignoringInvalidValues: Bool) async throws(PushError) -> CheckedArguments
    /// Runs a flow until it ends. Cancelling the task cancels the run.
    ///
    /// - Parameter progress: receives progress in order.
    func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunResult
}

/// A flow as its script describes it.
package struct FlowDescription: Sendable, Equatable {
    /// The first digits of the script's hash.
    package var version: String
    /// The script's first comment; empty if there is none.
    package var summary: String
    /// The JSON Schema (2020-12) of its arguments, an object.
    package var schema: JSON

    package init(version: String, summary: String, schema: JSON) {
        self.version = version
        self.summary = summary
        self.schema = schema
    }
}

package struct CheckedArguments: Sendable, Equatable {
    /// The arguments, with the script's defaults for missing ones.
    package var values: JSONObject
    /// The names of secret arguments.
    package var secrets: [String]

    package init(values: JSONObject, secrets: [String] = []) {
        self.values = values
        self.secrets = secrets
    }

    /// The arguments that are not secret, so that they may be stored and shown.
    package var shown: JSONObject { JSONObject(values.members.filter { !secrets.contains($0.key) }.map { ($0.key, $0.value) }) }
}

extension FlowExecutor {
    package func check(_ arguments: JSONObject, for flow: ServedFlow) async throws(PushError) -> CheckedArguments {
        try await check(arguments, for: flow, ignoringInvalidValues: false)
    }
}

/// A run to be executed now.
package struct RunOrder: Sendable {
    package var flow: ServedFlow
    package var run: RunRecord
    /// All arguments, including secret ones.
    package var arguments: JSONObject
    /// The session of the user whose request started the run.
    package var caller: Session?

    package init(flow: ServedFlow, run: RunRecord, arguments: JSONObject, caller: Session? = nil) {
        self.flow = flow
        self.run = run
        self.arguments = arguments
        self.caller = caller
    }
}

/// Progress of an active run.
package enum RunProgress: Sendable {
    /// The script has been loaded.
    case began(version: String)
    case step(RunReport.Step)
    case line(RunReport.Line)
    /// A notification was sent outside of any step; its id.
    case notification(String)
}

/// The result of a run.
package struct RunResult: Sendable {
    package var state: RunRecord.State
    package var result: JSON?
    package var failure: RunReport.Failure?

    package init(state: RunRecord.State, result: JSON? = nil, failure: RunReport.Failure? = nil) {
        self.state = state
        self.result = result
        self.failure = failure
    }
}
