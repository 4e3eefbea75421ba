/// An address of the simulated services, besides the names of the real ones.
package struct ServiceAddress: Sendable {
    /// Host and port, such as `localhost:8091`; `nil` if there is none.
    package var authority: String?
    /// The services at this address.
    package var platforms: Set<PhonePlatform>

    package init(authority: String? = nil, platforms: Set<PhonePlatform> = []) {
        self.authority = authority
        self.platforms = platforms
    }

    /// The address of a service; `nil` if it only has the names of the real one.
    func authority(of platform: PhonePlatform) -> String? { platforms.contains(platform) ? authority : nil }

    /// The host in lower case, without the port; `nil` if there is none.
    var host: String? { authority.map { String($0.lowercased().prefix { $0 != ":" }) } }
}
