/// What an app's registration at the Microsoft Store says.
package struct WNSSimulatorSettings: Sendable {
    /// The package security identifier, `ms-app://s-1-15-2-…`; the `client_id` of token requests.
    package var packageSID: String
    package var clientSecret: String
    /// The `app` of the phones whose channels belong to this package.
    package var appName: String
    /// Pushes per minute and channel before `X-WNS-Status: channelthrottled`.
    package var pushesPerMinutePerChannel = 600
    /// Pushes per minute of the whole app before 406.
    package var pushesPerMinute = 600_000

    package init(packageSID: String, clientSecret: String, appName: String) {
        self.packageSID = packageSID
        self.clientSecret = clientSecret
        self.appName = appName
    }
}
