/// A request to the control plane that cannot be granted.
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

    /// A body with more bytes than are read.
    static func size(_ limit: Int) -> ControlRefusal {
        ControlRefusal(
            413, "simulator.request", "the body is larger than \(limit) bytes", hint: "push services take 5,000 bytes at most")
    }

    /// A request for APNs that did not come over HTTP/2.
    static let version = ControlRefusal(
        505, "simulator.protocol", "APNs speaks HTTP/2 alone", hint: "let the client name h2 in TLS; it came with HTTP/1.1")

    /// A request for a host that nobody here answers for.
    static func host(_ host: String, hosts: [String]) -> ControlRefusal {
        ControlRefusal(
            421, "simulator.host", "no push service answers for the host \"\(host)\"",
            hint: "send the service's own Host: \(hosts.joined(separator: ", "))")
    }
}
