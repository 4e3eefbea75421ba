/// Identifies a simulated phone; numbered from 1 in the order of adding.
package struct PhoneID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let number: Int

    package init(number: Int) {
        self.number = number
    }

    package var description: String { "phone-\(number)" }

    package static func < (left: PhoneID, right: PhoneID) -> Bool { left.number < right.number }
}
