/// Runs scripts for a server, which knows nothing of their language.
package protocol FlowExecutor: Sendable {
    /// What a flow's script takes, as it stands now. Throws `script.*` for one that cannot be read or does not get as far as to say it.
    func parameters(of flow: ServedFlow) async throws(PushError) -> FlowDescription
    /// Checks what a run is to be given, by name. Throws `args.invalid` (400) with every fault in its details, and `script.*`.
    ///
    /// - Parameter takingWhatFits: whether what the script does not declare is left out instead: what starts it tells more than each
    ///   flow wants to know.
    func check(_ arguments: JSONObject, for flow: ServedFlow, takingWhatFits: Bool) async throws(PushError) -> CheckedArguments
    /// Runs to the end. Cancelling the task cancels the run.
    ///
    /// - Parameter progress: told what there is to report so far, in order.
    func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunEnd
}

/// What a flow's script says of itself.
package struct FlowDescription: Sendable, Equatable {
    /// The first digits of the script's hash.
    package var version: String
    /// Its first comment; empty for none.
    package var summary: String
    /// Of its arguments, an object (JSON Schema 2020-12).
    package var schema: JSON

    package init(version: String, summary: String, schema: JSON) {
        self.version = version
        self.summary = summary
        self.schema = schema
    }
}

package struct CheckedArguments: Sendable, Equatable {
    /// With the defaults of the script for what was not given.
    package var values: JSONObject
    /// The names of those that are secret.
    package var secrets: [String]

    package init(values: JSONObject, secrets: [String] = []) {
        self.values = values
        self.secrets = secrets
    }

    /// Those that may be kept and shown.
    package var shown: JSONObject { JSONObject(values.members.filter { !secrets.contains($0.key) }.map { ($0.key, $0.value) }) }
}

extension FlowExecutor {
    package func check(_ arguments: JSONObject, for flow: ServedFlow) async throws(PushError) -> CheckedArguments {
        try await check(arguments, for: flow, takingWhatFits: false)
    }
}

/// A run that is to be done now.
package struct RunOrder: Sendable {
    package var flow: ServedFlow
    package var run: RunRecord
    /// All of its arguments.
    package var arguments: JSONObject
    /// Of the user whose request it answers.
    package var caller: Session?

    package init(flow: ServedFlow, run: RunRecord, arguments: JSONObject, caller: Session? = nil) {
        self.flow = flow
        self.run = run
        self.arguments = arguments
        self.caller = caller
    }
}

/// News of a run that is under way.
package enum RunProgress: Sendable {
    /// Its script was read.
    case began(version: String)
    case step(RunReport.Step)
    case line(RunReport.Line)
    /// It sent something outside of any step.
    case notification(String)
}

/// How a run ended.
package struct RunEnd: Sendable {
    package var state: RunRecord.State
    package var result: JSON?
    package var failure: RunReport.Failure?

    package init(state: RunRecord.State, result: JSON? = nil, failure: RunReport.Failure? = nil) {
        self.state = state
        self.result = result
        self.failure = failure
    }
}
