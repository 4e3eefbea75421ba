/// The error that every core service throws: a stable dotted code, a message and a hint.
///
/// The same code appears in Lua, over HTTP, in JSON and in the log. Codes of the core: `audit.*`, `auth.*`, `backend.*`, `cron.*`,
/// `daily_window.*`, `handle.*`, `hub.*`, `installation.*`, `kv.*`, `localization.*`, `notification.*`, `payload.*`, `secure.*`,
/// `simulator.*`, `subscription.*`, `tag.*`, `tag_expression.*`, `template.*`, `target.*`, `time.*`, `time_zone.*`.
package struct PushError: Error, Sendable, Equatable, CustomStringConvertible {
    package var code: String
    /// What is wrong, in one clause without a full stop.
    package var message: String
    /// How to correct it.
    package var hint: String?
    /// The HTTP status of a response with this error.
    package var status: Int?
    /// Whether repeating the same call unchanged may succeed later.
    package var isRetryable: Bool
    package var trackingID: String?
    /// Machine-readable facts for scripts: positions, limits, names.
    package var details: [String: JSON]

    package init(
        _ code: String, _ message: String, hint: String? = nil, status: Int? = nil, isRetryable: Bool = false,
        trackingID: String? = nil, details: [String: JSON] = [:]
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
        self.isRetryable = isRetryable
        self.trackingID = trackingID
        self.details = details
    }

    package var description: String { hint.map { "\(message); \($0) (\(code))" } ?? "\(message) (\(code))" }
}
