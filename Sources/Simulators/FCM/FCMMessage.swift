/// A message whose fields were all checked (Google, "REST Resource: projects.messages").
struct FCMMessage {
    let target: FCMTarget
    let json: JSONValue
    /// Data of the message, with that of `android` laid over it.
    let data: [String: String]
    /// Fields of the notification, with those of `android` laid over them; nil for a data message.
    let notification: JSONValue?
    let collapseKey: String?
    /// Milliseconds; four weeks unless the message says less.
    let timeToLive: Int64
    let restrictedPackage: String?
    /// Of high priority, as notifications are and data messages are not unless they say so.
    let isUrgent: Bool

    private static let longestStorage: Int64 = 2_419_200_000

    /// - Parameter message: Of the shape of one.
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

    /// UTF-8 bytes of all names and values that travel to the device.
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
