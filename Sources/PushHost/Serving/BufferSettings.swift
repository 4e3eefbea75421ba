import WebAPI

// Memory that clients may use.
extension ServerSettings {
    static let bufferSettings: [Setting] = [
        Setting(
            "limits.connection_bytes", .count,
            "Bytes of bodies and answers that may wait for one connection before its next requests over HTTP/2 wait; `none` for no limit.",
            default: "4194304"
        ) { $0.buffers.connection = $1.count ?? .max },
        Setting(
            "limits.address_bytes", .count,
            "Bytes of requests and answers that may wait for one client address, of all its connections together. Further requests get 503. "
                + "Behind a proxy all clients have one address.",
            default: "67108864"
        ) { $0.buffers.address = $1.count },
        Setting(
            "limits.server_bytes", .count,
            "Bytes of requests and answers that may wait for all clients together. Further requests get 503.", default: "268435456"
        ) { $0.buffers.server = $1.count },
    ]
}
