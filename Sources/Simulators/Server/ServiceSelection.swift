import HTTPTypes

/// The services on one TLS port, and how requests to it are routed.
package struct ServiceSelection: Sendable {
    package var platforms: Set<PhonePlatform>
    package var apns = APNsHTTP2Settings()
    /// The host and port that handles and credentials name, such as `localhost:9443`; `nil` for `localhost` with the port's number.
    package var authority: String?

    package init(_ platforms: Set<PhonePlatform> = Set(PhonePlatform.allCases)) { self.platforms = platforms }

    /// The protocols of the services: APNs HTTP/2 only, WNS HTTP/1.1 only, the others both.
    var protocols: [WireProtocol] {
        switch platforms {
        case [.apns]: [.http2]
        case [.wns]: [.http1]
        default: [.http2, .http1]
        }
    }

    /// The target of a request.
    enum Destination {
        case apns(APNsEnvironment)
        /// Any service except APNs.
        case service(PhonePlatform)
        case controlPlane
        /// No service has this host.
        case nobody
    }

    /// Routes by the host names of the real services. On names of this machine it routes by path, and unknown paths go to the control
    /// plane; a single service gets all paths except those of the control plane.
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

    /// Whether a path belongs to this service.
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
