import PushModel

extension Page {
    /// The row after which the page starts; nil for the first page. Throws `hub.continuation` (400).
    var row: UInt32? {
        get throws(PushError) {
            guard let token = continuation else { return nil }
            guard let row = UInt32(token) else { throw PushError.invalidContinuation(token) }
            return row
        }
    }

    /// Maximum number of entries.
    var size: Int { (1...100).contains(top) ? top : 100 }
}

extension PushError {
    static func invalidContinuation(_ token: String) -> PushError {
        PushError(
            "hub.continuation", "invalid continuation token \"\(token)\"",
            hint: "pass the token of the previous page, or none", status: 400)
    }
}
