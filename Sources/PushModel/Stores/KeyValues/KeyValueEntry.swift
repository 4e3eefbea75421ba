/// A stored value of a key.
package struct KeyValueEntry: Sendable, Equatable {
    package var value: JSON
    /// Changes with every write and only grows within a space. Has no other meaning.
    package var version: Int64
    package var expires: Timestamp?

    package init(value: JSON, version: Int64, expires: Timestamp?) {
        self.value = value
        self.version = version
        self.expires = expires
    }
}
