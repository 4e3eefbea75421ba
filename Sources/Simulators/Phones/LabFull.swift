/// The response of every simulated service when the lab has reached its limit of phones or memory. No push service uses this status, so
/// senders do not blame the handle.
enum LabFull {
    /// Insufficient Storage (RFC 4918, section 11.5).
    static let status = 507
    static let reason = "LabFull"
    static let message = "the lab has reached its limit of phones, or of memory for pushes"
}
