import WebAPI

// Limits of the memory that buffers for clients may use.
extension ServerSettings {
    static let bufferSettings: [Setting] = [
        Setting(
            "limits.connection_bytes", .count,
            "Bytes of bodies and responses buffered for one connection before its next HTTP/2 requests wait; `none` for no limit.",
            default: "4194304"
        ) { $0.buffers.connection = $1.count ?? .max },
        Setting(
            "limits.address_bytes", .count,
            "Bytes of requests and responses buffered for one client address, over all its connections. Further requests get 503. "
                + "Behind a proxy all clients have one address.",
            default: "67108864"
        ) { $0.buffers.address = $1.count },
        Setting(
            "limits.server_bytes", .count,
            "Bytes of requests and responses buffered for all clients. Further requests get 503. While less than an eighth is left, the "
                + "largest connections of the client addresses that buffer the most are closed.", default: "268435456"
        ) { $0.buffers.server = $1.count },
    ]
}
