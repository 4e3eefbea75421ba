/// Arguments of a run that have been checked.
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
