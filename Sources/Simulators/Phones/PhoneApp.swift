/// The two environments of APNs: a device token of one is a bad device token in the other.
package enum APNsEnvironment: String, Sendable, CaseIterable {
    case production, development
}

/// The app on a phone that receives pushes.
package struct PhoneApp: Sendable {
    /// Bundle id (APNs), package name (FCM), app name of the simulator's settings (WNS), any name of a web app.
    package var id: String
    /// APNs only: the environment of the app's device token.
    package var environment: APNsEnvironment
    /// FCM only: the app's project; `nil` matches every project.
    package var project: String?
    /// Whether the app's own code handles background, data and raw pushes, so that nothing is shown automatically.
    package var handlesPushes: Bool
    /// WNS only: whether a raw push starts the app's background task even after the app was closed.
    package var hasBackgroundTask: Bool
    /// Browsers only: the P-256 key that the web app subscribes with, 65 bytes; `nil` lets every server send.
    package var applicationServerKey: [UInt8]?
    /// The app's localised texts by key, for `loc-key` and `title-loc-key`; `%@` and `%1$@` stand for arguments.
    package var strings: [String: String]

    package init(
        _ id: String, environment: APNsEnvironment = .production, project: String? = nil, handlesPushes: Bool = false,
        hasBackgroundTask: Bool = false, applicationServerKey: [UInt8]? = nil, strings: [String: String] = [:]
    ) {
        self.id = id
        self.environment = environment
        self.project = project
        self.handlesPushes = handlesPushes
        self.hasBackgroundTask = hasBackgroundTask
        self.applicationServerKey = applicationServerKey
        self.strings = strings
    }
}
