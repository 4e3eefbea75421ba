/// One page of a list of installations.
package struct InstallationPage: Sendable, Equatable {
    package var installations: [Installation]
    /// Nil on the last page.
    package var continuation: String?

    package init(installations: [Installation], continuation: String?) {
        self.installations = installations
        self.continuation = continuation
    }
}
