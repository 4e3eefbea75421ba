/// The registration of an app in the Microsoft Store.
package struct WNSSimulatorSettings: Sendable {
    /// The package security identifier, `ms-app://s-1-15-2-…`; the `client_id` of token requests.
    package var packageSID: String
    package var clientSecret: String
    /// The `app` of the phones whose channels belong to this package.
    package var appName: String
    /// Maximum pushes per minute and channel; then `X-WNS-Status: channelthrottled`.
    package var pushesPerMinutePerChannel = 600
    /// Maximum pushes per minute of the whole app; then 406.
    package var pushesPerMinute = 600_000

    package init(packageSID: String, clientSecret: String, appName: String) {
        self.packageSID = packageSID
        self.clientSecret = clientSecret
        self.appName = appName
    }
}
