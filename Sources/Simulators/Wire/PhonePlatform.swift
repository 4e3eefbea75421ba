/// The push service of a phone. A browser counts as a phone whose app is one web app.
package enum PhonePlatform: String, Sendable, CaseIterable {
    case apns, fcm, wns, browser

    /// Accepts the service's name as well: `webpush` for browsers.
    package init?(service word: String) {
        guard let platform = word == "webpush" ? .browser : Self(rawValue: word) else { return nil }
        self = platform
    }
}
