/// Selects entries; nil matches all.
package struct AuditFilter: Sendable {
    package var actor: String?
    package var action: String?
    /// The earliest time.
    package var since: Timestamp?

    package init(actor: String? = nil, action: String? = nil, since: Timestamp? = nil) {
        self.actor = actor
        self.action = action
        self.since = since
    }

    /// Compares texts by their bytes.
    package func lets(_ record: AuditRecord) -> Bool {
        (actor.map { $0.utf8.elementsEqual(record.actor.utf8) } ?? true)
            && (action.map { $0.utf8.elementsEqual(record.action.utf8) } ?? true) && (since.map { $0 <= record.time } ?? true)
    }
}
