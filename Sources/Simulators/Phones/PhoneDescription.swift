/// The push service behind a phone. A browser, wherever it runs, counts as a phone whose app is one web app.
package enum PhonePlatform: String, Sendable, CaseIterable {
    case apns, fcm, wns, browser

    /// By the name of the service as well: browsers have `webpush`.
    package init?(service word: String) {
        guard let platform = word == "webpush" ? .browser : Self(rawValue: word) else { return nil }
        self = platform
    }
}

/// The two separate worlds of APNs: a device token of one is a bad device token in the other.
package enum APNsEnvironment: String, Sendable {
    case production, development
}

/// A phone and the one app on it, as the script that adds it describes them.
package struct PhoneDescription: Sendable {
    /// What the phone is called in reports.
    package var name: String
    package var platform: PhonePlatform
    /// Whose phone it is.
    package var user: String
    /// BCP 47 language tag, such as `pt-PT`.
    package var locale: String
    /// IANA time zone name, such as `Europe/Lisbon`.
    package var timeZone: String
    /// Bundle id (APNs), package name (FCM), the app name of the simulator's settings (WNS), any name of a web app.
    package var app: String
    /// APNs only: the world that the app's device token belongs to.
    package var environment: APNsEnvironment
    /// FCM only: the project that the app belongs to; nil belongs to every project.
    package var project: String?
    /// The app's own code deals with background, data and raw pushes: nothing is shown for them by itself.
    package var handlesPushes: Bool
    /// WNS only: a raw push starts the app's background task even after the app was closed.
    package var hasBackgroundTask: Bool
    /// Browsers only: the P-256 key that the web app subscribes with, 65 bytes; nil lets every server send.
    package var applicationServerKey: [UInt8]?
    /// The app's localised texts by key, for `loc-key` and `title-loc-key`; `%@` and `%1$@` stand for arguments.
    package var strings: [String: String]

    package init(
        name: String, platform: PhonePlatform, user: String = "", locale: String = "en-US", timeZone: String = "UTC",
        app: String, environment: APNsEnvironment = .production, project: String? = nil, handlesPushes: Bool = false,
        hasBackgroundTask: Bool = false, applicationServerKey: [UInt8]? = nil, strings: [String: String] = [:]
    ) {
        self.name = name
        self.platform = platform
        self.user = user
        self.locale = locale
        self.timeZone = timeZone
        self.app = app
        self.environment = environment
        self.project = project
        self.handlesPushes = handlesPushes
        self.hasBackgroundTask = hasBackgroundTask
        self.applicationServerKey = applicationServerKey
        self.strings = strings
    }
}
