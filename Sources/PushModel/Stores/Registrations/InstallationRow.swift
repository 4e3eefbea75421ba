/// An installation and its row.
package struct InstallationRow: Sendable, Equatable {
    /// The installation's row; registrations have their own row numbers.
    package var row: UInt32
    package var installation: Installation
    /// When the installation is removed: the time that its app chose, or the hub's.
    package var expiration: Timestamp

    package init(row: UInt32, installation: Installation, expiration: Timestamp) {
        self.row = row
        self.installation = installation
        self.expiration = expiration
    }
}
