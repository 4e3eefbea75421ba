package import Lua

/// A test declared with `push.test.it`.
package struct TestCase: Sendable, Equatable {
    /// Names of the enclosing `describe` blocks, outermost first.
    package var groups: [String]
    package var name: String
    package var location: SourceLocation?
    /// Whether the test has a name but no function yet.
    package var isPending: Bool
    /// How much it is tried, if it is a property.
    package var property: PropertyLimits?

    package init(groups: [String], name: String, location: SourceLocation?, isPending: Bool) {
        self.groups = groups
        self.name = name
        self.location = location
        self.isPending = isPending
    }

    /// Group names and test name: `breaking news › only subscribers receive it`.
    package var fullName: String { (groups + [name]).joined(separator: " › ") }
}
