/// A client of one push service: accepts rendered notifications and returns one verdict per device.
package protocol Connector: Sendable {
    var platforms: Set<Platform> { get }

    /// Delivers one body to many devices. Returns exactly one verdict per handle, in the order of the handles. A failure to reach the
    /// service is a verdict, too.
    func deliver(_ batch: DeliveryBatch) async -> [Verdict]
}
