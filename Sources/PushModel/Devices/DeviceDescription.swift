/// A simulated device as a script describes it.
package struct DeviceDescription: Sendable, Equatable {
    package var name: String
    package var platform: Platform
    package var user: String?
    package var locale: String
    package var timeZone: String

    package init(
        name: String, platform: Platform, user: String? = nil, locale: String = "en-US", timeZone: String = "UTC"
    ) {
        self.name = name
        self.platform = platform
        self.user = user
        self.locale = locale
        self.timeZone = timeZone
    }
}
