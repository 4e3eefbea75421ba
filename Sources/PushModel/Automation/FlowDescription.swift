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
