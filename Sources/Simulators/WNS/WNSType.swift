/// The values of `X-WNS-Type`.
enum WNSType: String {
    case toast = "wns/toast"
    case tile = "wns/tile"
    case badge = "wns/badge"
    case raw = "wns/raw"

    /// The required `Content-Type`.
    var contentType: String { self == .raw ? "application/octet-stream" : "text/xml" }

    /// High for toasts, medium for tiles and badges, low for raw pushes.
    var defaultPriority: Int {
        switch self {
        case .toast: 1
        case .tile, .badge: 2
        case .raw: 3
        }
    }

    /// Whether it is stored for offline devices by default: all types except raw.
    var isCachedByDefault: Bool { self != .raw }
}
