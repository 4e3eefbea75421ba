/// A condition for a write.
package enum KeyValueCondition: Sendable, Equatable {
    case always
    /// The key has no entry.
    case absent
    /// The entry has this version.
    case version(Int64)

    /// - Parameter version: of the entry; nil if there is none.
    package func holds(for version: Int64?) -> Bool {
        switch self {
        case .always: true
        case .absent: version == nil
        case .version(let wanted): version == wanted
        }
    }
}
