package import PushModel

/// A hub's queue of removed and restored devices that have not been reported yet.
package protocol PrunedDeviceQueue: Sendable {
    /// The name of the hub.
    var name: String { get }
    func unreported(limit: Int) async throws(PushError) -> [PrunedDevice]
    func acknowledge(upTo number: Int64) async throws(PushError)
    /// Drops the oldest beyond `most`, and returns how many it dropped.
    func dropUnreported(beyond most: Int) async throws(PushError) -> Int
}
