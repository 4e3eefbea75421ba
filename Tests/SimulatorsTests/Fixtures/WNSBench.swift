import HTTPTypes
import Simulators
import Testing

/// A package, a device, and a toast that WNS accepts; tests change one thing.
final class WNSBench: Sendable {
    static let toast = """
        <toast><visual><binding template="ToastGeneric"><text>News</text><text>Hello</text></binding></visual></toast>
        """
    static let badge = #"<?xml version="1.0"?><badge value="7"/>"#

    let time = ManualTime()
    let log = EventLog()
    let lab: PhoneLab
    let simulator: WNSSimulator
    let phone: PhoneID

    /// - Parameter adoptionLimit: nil for a lab that adopts no handles.
    init(adoptionLimit: Int? = nil) {
        lab = PhoneLab(
            clock: time.clock, random: time.random,
            adoption: adoptionLimit.map { HandleAdoption(limit: $0) } ?? .disabled, observer: PhoneObserver(event: log.add))
        simulator = WNSSimulator(
            lab: lab, clock: time.clock, random: time.random,
            settings: WNSSimulatorSettings(
                packageSID: "ms-app://s-1-15-2-1", clientSecret: "s/cret", appName: "Example.News"))
        phone = lab.addPhone(PhoneDescription(name: "carol", platform: .wns, app: PhoneApp("Example.News")))
    }

    static let form = [
        "grant_type": "client_credentials", "client_id": "ms-app%3A%2F%2Fs-1-15-2-1", "client_secret": "s%2Fcret",
        "scope": "notify.windows.com",
    ]

    func grant(
        _ changes: [String: String] = [:], without missing: String? = nil,
        contentType: String = "application/x-www-form-urlencoded"
    ) async -> Reply {
        let form = Self.form.merging(changes) { $1 }.filter { $0.key != missing }
        let body = form.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let request = HTTPRequest(
            host: "login.live.com", path: "/accesstoken.srf", [("content-type", contentType)])
        return Reply(await simulator.handle(request, body: Array(body.utf8)))
    }

    func accessToken() async throws -> String { try #require(await grant().member("access_token")) }

    /// The host, and the path with query, of a channel.
    static func parts(of channel: String) -> (host: String, path: String) {
        let rest = channel.dropFirst("https://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        return (String(rest[..<slash]), String(rest[slash...]))
    }

    /// Sends the valid toast with a change; `Content-Length` is always that of the body.
    func send(
        _ body: String = toast, type: String = "wns/toast", to channel: String? = nil,
        change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> Reply {
        let (host, path) = Self.parts(of: channel ?? lab.pushHandle(of: phone) ?? "")
        var request = HTTPRequest(
            host: host, path: path,
            [
                ("authorization", "Bearer \(try await accessToken())"), ("x-wns-type", type),
                ("content-type", type == "wns/raw" ? "application/octet-stream" : "text/xml"),
                ("content-length", String(body.utf8.count)),
            ])
        change(&request)
        return Reply(await simulator.handle(request, body: Array(body.utf8)))
    }
}
