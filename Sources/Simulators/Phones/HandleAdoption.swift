/// The unknown handles that become phones at the first push to them.
package struct HandleAdoption: Sendable {
    /// Whether an unknown handle becomes a phone, named after the handle. The services still check its format.
    package var isEnabled: Bool
    /// Maximum number of full phones; iPhones adopted beyond it are only counted. `nil` for no limit.
    package var fullPhoneLimit: Int?
    /// Maximum number of adopted handles, including counted ones, so that made-up handles cannot exhaust the memory.
    package var limit: Int

    /// - Parameter limit: `nil` for a default that depends on `fullPhoneLimit`.
    package init(isEnabled: Bool = true, fullPhoneLimit: Int? = nil, limit: Int? = nil) {
        self.isEnabled = isEnabled
        self.fullPhoneLimit = fullPhoneLimit
        self.limit = limit ?? (fullPhoneLimit == nil ? Self.defaultLimit : CountedPhones.capacity)
    }

    /// Unknown handles remain unknown.
    package static let disabled = HandleAdoption(isEnabled: false)

    /// The default limit of a lab whose phones all have an inbox.
    package static let defaultLimit = 1_000_000
}
