/// An error of the control plane.
struct ControlRefusal: Error {
    var status: Int
    var code: String
    /// One sentence without a full stop.
    var message: String
    var hint: String

    init(_ status: Int, _ code: String, _ message: String, hint: String) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// `{"code","message","hint"}`
    var answer: Answer {
        Simulators.answer(
            status, json: JSONValue(members: ["code": .string(code), "message": .string(message), "hint": .string(hint)]))
    }

    /// The body exceeds the limit.
    static func size(_ limit: Int) -> ControlRefusal {
        ControlRefusal(
            413, "simulator.request", "the body is larger than \(limit) bytes", hint: "push services accept at most 5,000 bytes")
    }

    /// A request to APNs that was not sent over HTTP/2.
    static let version = ControlRefusal(
        505, "simulator.protocol", "APNs supports only HTTP/2", hint: "the request came over HTTP/1.1; have the client offer h2 with ALPN")

    /// A request to a host of no service.
    static func host(_ host: String, hosts: [String]) -> ControlRefusal {
        ControlRefusal(
            421, "simulator.host", "no push service has the host \"\(host)\"",
            hint: "send the service's own Host: \(hosts.joined(separator: ", "))")
    }
}
