import PushModel

/// The audit entries of a route of the JSON API.
struct AuditRule: Sendable {
    /// Returns the object and further details, without secrets; nil if nothing was changed.
    typealias Words = @Sendable (ManagementCall, WebAnswer) throws(PushError) -> (subject: String, details: [String: String])?

    let action: AuditAction
    /// Whether it can occur thousands of times.
    var isFrequent = false
    let words: Words

    init(_ action: AuditAction, isFrequent: Bool = false, words: @escaping Words) {
        (self.action, self.isFrequent, self.words) = (action, isFrequent, words)
    }
}
