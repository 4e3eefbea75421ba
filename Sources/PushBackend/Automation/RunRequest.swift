package import PushModel

/// A request to run a flow.
package struct RunRequest: Sendable {
    package var flow: String
    package var arguments: JSONObject
    package var trigger: RunTrigger
    /// Idempotency key: requests with the same key start one run.
    package var key: String?
    /// The app backend user whose request the run answers.
    package var caller: Session?
    /// Names of arguments to treat as secret in addition to those that the script declares.
    package var secrets: [String]
    /// Whether to drop undeclared and invalid arguments instead of rejecting the request.
    package var ignoresInvalidValues = false
    package var origin: [String]

    package init(
        flow: String, arguments: JSONObject = JSONObject(), trigger: RunTrigger, key: String? = nil, caller: Session? = nil,
        secrets: [String] = [], origin: [String] = []
    ) {
        self.flow = flow
        self.arguments = arguments
        self.trigger = trigger
        self.key = key
        self.caller = caller
        self.secrets = secrets
        self.origin = origin
    }
}
