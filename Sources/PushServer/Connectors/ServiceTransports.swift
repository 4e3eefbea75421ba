import Delivery
import PushModel

/// The connections to FCM, WNS and Web Push services, shared by all hubs.
struct ServiceTransports: Sendable {
    let fcm: any PushBatchTransport
    /// Fetches access tokens of FCM.
    let grants: any PushTransport
    /// Also fetches access tokens of WNS.
    let wns: any PushTransport
    let webPush: any PushBatchTransport
    /// Whether private addresses are allowed.
    var allowsPrivate = false
    /// The HTTP clients to close at the end.
    let clients: [HTTPClientTransport]

    /// Maximum number of concurrent requests of a batch over HTTP/1.1.
    static let width = 32

    /// The trusted certificates, read before any connection is opened.
    struct Trust: Sendable {
        let fcm: TLSTrust
        let wns: TLSTrust
        let webPush: TLSTrust

        /// Throws `settings.invalid` if root certificates cannot be read.
        init(_ settings: DeliverySettings) throws(PushError) {
            fcm = try DeliverySettings.trust(settings.fcm.roots, "fcm.roots")
            wns = try DeliverySettings.trust(settings.wns.roots, "wns.roots")
            webPush = try DeliverySettings.trust(settings.webPush.roots, "webpush.roots")
        }
    }

    /// Closes the connections. Queued requests are not sent; requests in flight over HTTP/2 get a short time to complete.
    func shutdown() async {
        await fcm.shutdown()
        await webPush.shutdown()
        for client in clients { await client.shutdown() }
    }
}

extension ServiceTransports {
    /// - Parameter network: rejects addresses that are not public, except those of the settings; nil allows all.
    init(_ settings: DeliverySettings, _ trust: Trust, network: PublicNetwork?, clock: any HubClock, random: any RandomSource) {
        var clients: [HTTPClientTransport] = []
        func client(
            _ address: String? = nil, _ network: PublicNetwork?, _ trust: TLSTrust, isHTTP1: Bool = true
        ) -> HTTPClientTransport {
            let route = address.flatMap(DeliverySettings.origin)
            // An address from the settings may be private.
            let client = HTTPClientTransport(
                route: route, network: route == nil ? network : nil, tls: trust.configuration(showing: nil), isHTTP1: isHTTP1)
            clients.append(client)
            return client
        }
        fcm = HTTP2Transport(route: settings.fcm.address.flatMap(DeliverySettings.route), trust: trust.fcm, random: random)
        grants = client(settings.fcm.address, network, trust.fcm, isHTTP1: false)
        allowsPrivate = network == nil
        let hosts = settings.wns.allowedHosts
        wns = SplitTransport(client(settings.wns.address, network, trust.wns), direct: client(nil, nil, trust.wns)) {
            WNSSettings.hosts(hosts, contain: $0)
        }
        let origins = Set(settings.webPush.allowedHosts.compactMap { DeliverySettings.origin($0)?.origin })
        let modern = HTTP2Transport(
            trust: trust.webPush, limits: .manyOrigins, random: random,
            network: { origin in
                let address = WebAddress("\(origin.scheme)://\(origin.authority)")
                return address.map { origins.contains($0.origin) } == true ? nil : network
            })
        let older = SplitTransport(client(nil, network, trust.webPush), direct: client(nil, nil, trust.webPush)) {
            origins.contains($0.origin)
        }
        webPush = NegotiatedTransport(modern, plain: ConcurrentTransport(older, width: Self.width), clock: clock)
        self.clients = clients
    }
}
