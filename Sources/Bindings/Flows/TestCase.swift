import Lua

/// One `push.test.it` of a spec.
package struct TestCase: Sendable, Equatable {
    /// The names of the `describe`s around it, outermost first.
    package var groups: [String]
    package var name: String
    package var location: SourceLocation?
    /// It has a name and no function yet.
    package var isPending: Bool

    package init(groups: [String], name: String, location: SourceLocation?, isPending: Bool) {
        self.groups = groups
        self.name = name
        self.location = location
        self.isPending = isPending
    }

    /// `breaking news › only subscribers are told`
    package var fullName: String { (groups + [name]).joined(separator: " › ") }
}
