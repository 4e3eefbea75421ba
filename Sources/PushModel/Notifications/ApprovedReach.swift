/// The number of devices that a scheduled notification may reach at its due time, and the reason why it is allowed.
///
/// The audience may grow between the request and the due time, and a send that is due cannot wait for an approval.
package struct ApprovedReach: Sendable, Hashable {
    package enum Basis: Sendable, Hashable {
        /// A limit below which no approval is needed: the principal's own, or the server's if nil.
        case ceiling(of: Principal?)
        /// The id of the approval: `a-3`.
        case approval(String)
    }

    package let devices: Int
    package let basis: Basis

    package init(devices: Int, basis: Basis) { (self.devices, self.basis) = (devices, basis) }

    /// The limit as text: `the limit of 1,000 for key:ops`, `the server's limit of 1,000`, `the 17 approved by a-1`.
    package var text: String {
        switch basis {
        case .ceiling(of: let owner?): "the limit of \(devices.grouped) for \(owner)"
        case .ceiling(of: nil): "the server's limit of \(devices.grouped)"
        case .approval(let id): "the \(devices.grouped) approved by \(id)"
        }
    }
}
