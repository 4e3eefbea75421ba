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
