/// The result of storing a value.
package enum KeyValuePut: Sendable, Equatable {
    case stored(version: Int64)
    /// The condition does not hold. `version` is the entry's; nil if there is none.
    case conflict(version: Int64?)
}
