/// A message with checked fields (Google, "REST Resource: projects.messages").
struct FCMMessage {
    let target: FCMTarget
    let json: JSONValue
    /// `data` of the message, overridden by that of `android`.
    let data: [String: String]
    /// Fields of the notification, overridden by those of `android`; `nil` for a data message.
    let notification: JSONValue?
    let collapseKey: String?
    /// Milliseconds; the default is four weeks.
    let timeToLive: Int64
    let restrictedPackage: String?
    /// Whether the priority is high: by default for notifications, not for data messages.
    let isUrgent: Bool

    private static let longestStorage: Int64 = 2_419_200_000

    /// - Parameter message: A message with a checked shape.
    init(_ message: JSONValue) throws(FCMRefusal) {
        target = try FCMTarget(message: message)
        let android = message["android"]
        try FCMFieldCheck.android(android)
        try FCMFieldCheck.apns(message["apns"])
        try FCMFieldCheck.webpush(message["webpush"])
        try FCMFieldCheck.label(in: message, "message")
        let common = try FCMFieldCheck.data(message["data"], "message.data")
        data = common.merging(try FCMFieldCheck.data(android?["data"], "message.android.data")) { $1 }
        notification = Self.merged(message["notification"], android?["notification"])
        collapseKey = android?["collapse_key"]?.string
        timeToLive = try FCMFieldCheck.timeToLive(android?["ttl"]) ?? Self.longestStorage
        restrictedPackage = android?["restricted_package_name"]?.string
        isUrgent = android?["priority"]?.string.map { $0 == "HIGH" } ?? (notification != nil)
        json = message.removing("token").removing("fid").removing("topic").removing("condition")
        guard size <= target.sizeLimit else {
            throw .badField("message", "Android message is too big: \(size) bytes, at most \(target.sizeLimit)")
        }
    }

    /// The size of all names and values sent to the device, in UTF-8 bytes.
    private var size: Int {
        data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            + (notification?.members ?? []).reduce(0) {
                $0 + $1.name.utf8.count + ($1.value.string ?? $1.value.text).utf8.count
            }
    }

    private static func merged(_ common: JSONValue?, _ android: JSONValue?) -> JSONValue? {
        guard common != nil || android != nil else { return nil }
        let over = android?.members ?? []
        let names = Set(over.map(\.name))
        return .object((common?.members ?? []).filter { !names.contains($0.name) } + over)
    }
}
