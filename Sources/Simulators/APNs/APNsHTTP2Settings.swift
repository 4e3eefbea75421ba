/// How many requests APNs lets a client have open (seen of Apple's; it documents no numbers).
package struct APNsHTTP2Settings: Sendable {
    /// Once the sender has proven who they are.
    package var streams: UInt32 = 1000
    /// Before that, and after a rejected notification until the next one is accepted.
    package var firstStreams: UInt32 = 1
    /// Whether a rejected notification takes the streams away.
    package var dropsAfterRejection = true
    /// What this machine's own names, as the host of a request, stand for.
    package var environment = APNsEnvironment.production

    package init() {}
}
