/// Where simulated services can be reached by any client, beside the names of the real ones.
package struct ServiceAddress: Sendable {
    /// Host and port, such as `localhost:8091`; nil where there is no such place.
    package var authority: String?
    /// Those that are there.
    package var platforms: Set<PhonePlatform>

    package init(authority: String? = nil, platforms: Set<PhonePlatform> = []) {
        self.authority = authority
        self.platforms = platforms
    }

    /// Nil for a service that has the names of the real one alone.
    func authority(of platform: PhonePlatform) -> String? { platforms.contains(platform) ? authority : nil }

    /// In lower case and without its port; nil where there is none.
    var host: String? { authority.map { String($0.lowercased().prefix { $0 != ":" }) } }
}
