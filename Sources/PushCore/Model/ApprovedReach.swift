/// The number of devices that a scheduled notification may reach at its due time, and what allows it.
///
/// The audience may grow between the request and the due time, and a send that is due cannot wait for an approval.
package struct ApprovedReach: Sendable, Hashable {
    package enum Basis: Sendable, Hashable {
        /// A limit under which no approval is needed: a principal's own, or the server's where there is none.
        case ceiling(of: Principal?)
        /// The id of the approval: `a-3`.
        case approval(String)
    }

    package let devices: Int
    package let basis: Basis

    package init(devices: Int, basis: Basis) { (self.devices, self.basis) = (devices, basis) }

    /// `the 1,000 that key:ops may reach without leave`, `the 17 that a-1 allows`
    package var text: String {
        switch basis {
        case .ceiling(let owner): "the \(devices.grouped) that \(owner?.description ?? "anybody") may reach without leave"
        case .approval(let id): "the \(devices.grouped) that \(id) allows"
        }
    }
}
