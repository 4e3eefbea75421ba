/// The result of removing a value.
package enum KeyValueRemoval: Sendable, Equatable {
    case removed
    /// There was no entry, and the condition allows that.
    case missing
    /// The condition does not hold. `version` is the entry's; nil if there is none.
    case conflict(version: Int64?)
}
