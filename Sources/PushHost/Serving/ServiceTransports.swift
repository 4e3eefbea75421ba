import Delivery
import PushCore

/// The connections to FCM, WNS and the push services of browsers, those of all hubs.
struct ServiceTransports: Sendable {
    let fcm: any PushBatchTransport
    /// For access tokens of FCM.
    let grants: any PushTransport
    /// For access tokens of WNS, too.
    let wns: any PushTransport
    let webPush: any PushBatchTransport
    /// Whether addresses need not be public.
    var allowsPrivate = false
    /// What has to be closed of them.
    let clients: [HTTPClientTransport]

    /// Requests of a batch under way at a time, over HTTP/1.1.
    static let width = 32

    /// Whom to trust, read before anything is opened.
    struct Trust: Sendable {
        let fcm: TLSTrust
        let wns: TLSTrust
        let webPush: TLSTrust

        /// Throws `settings.invalid` for roots that cannot be read.
        init(_ settings: DeliverySettings) throws(PushError) {
            fcm = try DeliverySettings.trust(settings.fcm.roots, "fcm.roots")
            wns = try DeliverySettings.trust(settings.wns.roots, "wns.roots")
            webPush = try DeliverySettings.trust(settings.webPush.roots, "webpush.roots")
        }
    }

    /// What waits is not sent; what is under way over HTTP/2 has a while to be answered. Then the connections are closed.
    func shutdown() async {
        await fcm.shutdown()
        await webPush.shutdown()
        for client in clients { await client.shutdown() }
    }
}

extension ServiceTransports {
    /// - Parameter network: what refuses addresses that are not public, but for those that the settings name; nil reaches all.
    init(_ settings: DeliverySettings, _ trust: Trust, network: PublicNetwork?, clock: any HubClock, random: any RandomSource) {
        var clients: [HTTPClientTransport] = []
        func client(
            _ address: String? = nil, _ network: PublicNetwork?, _ trust: TLSTrust, isHTTP1: Bool = true
        ) -> HTTPClientTransport {
            let route = address.flatMap(DeliverySettings.origin)
            // Who sets an address means it.
            let client = HTTPClientTransport(
                route: route, network: route == nil ? network : nil, tls: trust.configuration(showing: nil), isHTTP1: isHTTP1)
            clients.append(client)
            return client
        }
        fcm = HTTP2Transport(route: settings.fcm.address.flatMap(DeliverySettings.route), trust: trust.fcm, random: random)
        grants = client(settings.fcm.address, network, trust.fcm, isHTTP1: false)
        allowsPrivate = network == nil
        let hosts = settings.wns.places
        wns = SplitTransport(client(settings.wns.address, network, trust.wns), direct: client(nil, nil, trust.wns)) {
            WNSSettings.hosts(hosts, contain: $0)
        }
        let origins = Set(settings.webPush.places.compactMap { DeliverySettings.origin($0)?.origin })
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
