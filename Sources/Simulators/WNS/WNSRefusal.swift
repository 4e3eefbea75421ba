/// A notification that WNS turns down.
struct WNSRefusal: Error {
    var reason: WNSReason

    init(_ reason: WNSReason) {
        self.reason = reason
    }

    static func badRequest(_ what: String) -> WNSRefusal { WNSRefusal(.badRequest(what)) }
}
