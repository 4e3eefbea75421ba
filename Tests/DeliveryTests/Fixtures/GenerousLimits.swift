import Delivery

// Time limits for tests that do not test them: on a busy machine any step may take long.
extension HTTP2Limits {
    var generous: HTTP2Limits {
        var limits = self
        (limits.connect, limits.answer) = (.seconds(300), .seconds(300))
        return limits
    }
}

extension HTTPClientTransport.Limits {
    var generous: HTTPClientTransport.Limits {
        var limits = self
        (limits.connect, limits.exchange) = (.seconds(300), .seconds(300))
        return limits
    }
}
