/// The answer of every simulated service where an unknown handle would become a phone and the lab is full, or where its phones have no
/// memory for another push: no push service has this status, so that it is taken for no fault of the handle.
enum LabFull {
    /// Insufficient Storage (RFC 4918, section 11.5).
    static let status = 507
    static let reason = "LabFull"
    static let message = "the lab has no room for another phone, or for another push"
}
