/// Identifies a simulated device of a lab.
package struct DeviceID: Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}
