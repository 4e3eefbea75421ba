/// What every core service throws: a stable dotted code, a sentence, a cure.
///
/// The same code appears in Lua, over HTTP, in JSON and in the log. Codes of the core: `audit.*`, `auth.*`, `backend.*`, `cron.*`,
/// `daily_window.*`, `handle.*`, `hub.*`, `installation.*`, `kv.*`, `localization.*`, `notification.*`, `payload.*`, `secure.*`,
/// `simulator.*`, `subscription.*`, `tag.*`, `tag_expression.*`, `template.*`, `target.*`, `time.*`, `time_zone.*`.
package struct PushError: Error, Sendable, Equatable, CustomStringConvertible {
    package var code: String
    /// What failed, where and why, in one sentence without a full stop.
    package var message: String
    /// What to do about it.
    package var hint: String?
    /// The HTTP status that the error has on the wire.
    package var status: Int?
    /// Whether the same call may succeed later, unchanged.
    package var isRetryable: Bool
    package var trackingID: String?
    /// Facts a script may want: positions, limits, names.
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
