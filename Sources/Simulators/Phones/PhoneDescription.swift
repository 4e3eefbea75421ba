/// The properties of a phone and its app, as the script that adds it sets them.
package struct PhoneDescription: Sendable {
    /// The phone's name in reports.
    package var name: String
    package var platform: PhonePlatform
    /// The phone's user.
    package var user: String
    /// BCP 47 language tag, such as `pt-PT`.
    package var locale: String
    /// IANA time zone name, such as `Europe/Lisbon`.
    package var timeZone: String
    package var app: PhoneApp

    package init(
        name: String, platform: PhonePlatform, user: String = "", locale: String = "en-US", timeZone: String = "UTC", app: PhoneApp
    ) {
        self.name = name
        self.platform = platform
        self.user = user
        self.locale = locale
        self.timeZone = timeZone
        self.app = app
    }
}
