/// The handle of a simulated phone; numbered in the order in which the phones were added, from 1.
package struct PhoneID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let number: Int

    package init(number: Int) {
        self.number = number
    }

    package var description: String { "phone-\(number)" }

    package static func < (left: PhoneID, right: PhoneID) -> Bool { left.number < right.number }
}
