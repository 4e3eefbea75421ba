/// The stream limits of APNs, as observed with Apple's servers (their values are not documented).
package struct APNsHTTP2Settings: Sendable {
    /// Concurrent streams once the sender is authenticated.
    package var streams: UInt32 = 1000
    /// Concurrent streams before that, and after a rejected notification until the next one is accepted.
    package var firstStreams: UInt32 = 1
    /// Whether a rejected notification reduces the limit.
    package var dropsAfterRejection = true
    /// The environment for requests whose host is a name of this machine.
    package var environment = APNsEnvironment.production

    package init() {}
}
