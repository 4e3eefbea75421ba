package import HTTPTypes
import HubWire
package import PushModel

/// A send request in the hub's interface.
package struct Message: Sendable, Equatable {
    /// Maximum size of a notification in bytes.
    package static let maximumSize = 64 << 10
    /// Maximum size of a batch in bytes: a notification and 1000 handles.
    package static let maximumBatchSize = 6 << 20
    /// Maximum number of handles in a batch.
    package static let maximumDevices = 1000

    /// The request; for a batch, the one for its first device.
    package var request: NotificationRequest
    /// The devices of a batch, in order; otherwise empty.
    package var devices: [DeviceHandle] = []
    /// Nil for a template.
    package var platform: Platform?
    /// The due time; nil: at once.
    package var scheduledFor: Timestamp?

    /// One request per device of a batch, or the single request.
    package var requests: [NotificationRequest] {
        guard !devices.isEmpty else { return [request] }
        return devices.map { device in
            var one = request
            one.audience = .device(device)
            return one
        }
    }

    /// Reads `POST messages` and `POST schedulednotifications`, including direct and test sends.
    ///
    /// Throws the following, all 400 except `payload.too_large` (413): `notification.format`, `notification.schedule`, `tag_expression.*`,
    /// `tags.empty`, `handle.invalid`, `payload.invalid`, `payload.template_direct`.
    ///
    /// - Parameters:
    ///   - needsTime: Whether a due time is required, as for a scheduled notification.
    ///   - emptyTags: What an empty tags header means.
    package init(
        headers fields: HTTPFields, query: RequestQuery, body: [UInt8], needsTime: Bool = false,
        emptyTags: ClientPolicy.EmptyTags = .refuse
    ) throws(PushError) {
        let headers = MessageHeaders(fields)
        platform = try headers.platform()
        scheduledFor = try headers.scheduleTime()
        guard !needsTime || scheduledFor != nil else {
            throw PushError(
                "notification.schedule", "the request has no header ServiceBusNotification-ScheduleTime",
                hint: "set it to the due time, such as 2026-01-31T12:00:00Z", status: 400)
        }
        let audience: Audience
        if headers.isDirect(platform) || query.has("direct") {
            audience = .device(try headers.device(Self.direct(platform)))
        } else {
            audience = try headers.audience(emptyTags)
        }
        request = NotificationRequest(
            audience: audience, content: try Self.content(platform, headers, body[...]), options: headers.options(platform),
            isTest: query.has("test") || headers.isTest, pace: try headers.pace())
        guard scheduledFor == nil || !request.isTest || needsTime else { throw Self.notLater("a test send") }
    }

    /// Reads `POST messages/$batch`: a multipart body with the parts `notification` and `devices`.
    ///
    /// Throws the errors of a single message, and `notification.batch` (400).
    package init(batch fields: HTTPFields, query: RequestQuery, body: [UInt8]) throws(PushError) {
        guard body.count <= Self.maximumBatchSize else { throw Self.tooLarge(body.count, limit: Self.maximumBatchSize) }
        let headers = MessageHeaders(fields)
        let platform = try Self.direct(headers.platform())
        guard try headers.scheduleTime() == nil else { throw Self.notLater("a batch") }
        let parts = try Multipart(body: body, contentType: fields.text("content-type"))
        guard let notification = parts["notification"], let list = parts["devices"] else {
            throw Self.refusal("the batch has no part \(parts["notification"] == nil ? "notification" : "devices")")
        }
        let devices = try Self.devices(list, platform)
        self.platform = platform
        self.devices = devices
        request = NotificationRequest(
            audience: .device(devices[0]), content: try Self.content(platform, headers, notification),
            options: headers.options(platform), isTest: query.has("test") || headers.isTest, pace: try headers.pace())
    }

    /// Rejects a due time where a scheduled send could not be cancelled. Sending at once instead could not be undone.
    private static func notLater(_ what: String) -> PushError {
        PushError(
            "notification.schedule", "\(what) cannot be scheduled",
            hint: "leave ServiceBusNotification-ScheduleTime out, or send to schedulednotifications", status: 400)
    }

    /// The platform of a direct send, which cannot be a template.
    private static func direct(_ platform: Platform?) throws(PushError) -> Platform {
        guard let platform else {
            throw PushError(
                "payload.template_direct", "a template notification cannot be sent directly to a device, which has no template",
                hint: "send it in the format of the device's platform", status: 400)
        }
        return platform
    }

    private static func content(
        _ platform: Platform?, _ headers: MessageHeaders, _ body: ArraySlice<UInt8>
    ) throws(PushError) -> NotificationContent {
        guard body.count <= maximumSize else { throw tooLarge(body.count, limit: maximumSize) }
        if let platform {
            // XML for Windows may begin with a byte order mark, and raw bytes with anything; JSON must not.
            let isJSON = platform != .wns && platform != .mpns
            return .native([
                platform: NativePayload(
                    body: Array(isJSON ? body.withoutByteOrderMark : body), headers: headers.platformHeaders(to: platform))
            ])
        }
        guard let object = (try? JSON(parsing: body, numbers: .asWritten))?.object else {
            throw PushError(
                "payload.invalid", "the properties of a template notification are not a JSON object",
                hint: #"send {"name":"value"}"#, status: 400)
        }
        let properties = object.members.lazy.filter { !$0.value.isNull }.map { ($0.key, $0.value.plainText) }
        return .template(Dictionary(uniqueKeysWithValues: properties))
    }

    /// Parses a JSON array of handles. Strings in single quotes are accepted, as in Azure's documentation.
    private static func devices(_ part: ArraySlice<UInt8>, _ platform: Platform) throws(PushError) -> [DeviceHandle] {
        var list = try? JSON(parsing: part)
        if list == nil, !part.contains(UInt8(ascii: "\"")) {
            list = try? JSON(parsing: part.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 })
        }
        guard let items = list?.array, !items.isEmpty, items.count <= maximumDevices else {
            throw refusal("the part devices is not a JSON array of 1 to \(maximumDevices) handles")
        }
        var devices: [DeviceHandle] = []
        devices.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do {
                devices.append(try device(item, platform))
            } catch {
                throw PushError(
                    error.code, "device \(index + 1) of the batch: \(error.message)", hint: error.hint, status: 400)
            }
        }
        return devices
    }

    private static func device(_ item: JSON, _ platform: Platform) throws(PushError) -> DeviceHandle {
        if let text = item.string { return try DeviceHandle(platform: platform, text: text) }
        guard platform == .browser else { throw refusal("the handle is not a string") }
        return try DeviceHandle(subscription: item)
    }

    private static func refusal(_ why: String) -> PushError {
        PushError(
            "notification.batch", why, hint: "send the parts notification and devices, which is a JSON array of handles",
            status: 400)
    }

    private static func tooLarge(_ size: Int, limit: Int) -> PushError {
        PushError(
            "payload.too_large", "the message has \(size) bytes; the limit is \(limit)", hint: "shorten it, or send in parts",
            status: 413, details: ["size": .integer(Int64(size)), "limit": .integer(Int64(limit))])
    }
}
