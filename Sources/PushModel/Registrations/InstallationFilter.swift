/// Selects installations of a hub.
package enum InstallationFilter: Sendable, Equatable {
    case all
    /// The user id of the installation, in any case.
    case user(String)
    /// A tag of the installation or of one of its templates, or `$InstallationId:{…}` or `$UserId:{…}`.
    case tag(Tag)
    case platform(Platform)
}
