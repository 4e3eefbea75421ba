import HTTPTypes

/// Which of the services a port of TLS serves, and how requests to it are told apart.
package struct ServiceSelection: Sendable {
    package var platforms: Set<PhonePlatform>
    package var apns = APNsHTTP2Settings()
    /// What handles and credentials call the port, such as `localhost:9443`; `localhost` with its number for nil.
    package var authority: String?

    package init(_ platforms: Set<PhonePlatform> = Set(PhonePlatform.allCases)) { self.platforms = platforms }

    /// What the services speak: APNs HTTP/2 alone, WNS HTTP/1.1 alone, the others both.
    var protocols: [WireProtocol] {
        switch platforms {
        case [.apns]: [.http2]
        case [.wns]: [.http1]
        default: [.http2, .http1]
        }
    }

    /// What a request is for.
    enum Destination {
        case apns(APNsEnvironment)
        /// Never APNs.
        case service(PhonePlatform)
        case controlPlane
        /// None of the services has this host.
        case nobody
    }

    /// By the names of the real services; by path on names of this machine, where what no service has is the control plane's. A
    /// service that is there alone has every path but those of the control plane.
    func destination(of request: HTTPRequest, in site: SimulatedSite) -> Destination {
        if let (platform, environment) = site.service(answeringFor: request.host) {
            return platforms.contains(platform) ? destination(platform, environment) : .nobody
        }
        guard site.isOwn(request.host) else { return .nobody }
        let path = request.path ?? ""
        if ControlPlane.has(path) { return .controlPlane }
        let platform = platforms.count == 1 ? platforms.first : platforms.first { Self.has($0, path) }
        return platform.map { destination($0, apns.environment) } ?? .controlPlane
    }

    private func destination(_ platform: PhonePlatform, _ environment: APNsEnvironment) -> Destination {
        platform == .apns ? .apns(environment) : .service(platform)
    }

    /// Whether a path is one of the service's own.
    private static func has(_ platform: PhonePlatform, _ path: String) -> Bool {
        let beginnings =
            switch platform {
            case .apns: ["/3/device/", "/4/broadcasts/", "/1/apps/"]
            case .fcm: ["/v1/projects/", "/token"]
            case .wns: ["/accesstoken.srf", "/?token="]
            case .browser: ["/wpush/"]
            }
        return beginnings.contains { path.hasPrefix($0) }
    }
}
