import Bindings
import NIOHTTP1
import PushHub
import PushModel
import PushRuntime

/// A notification of `pushhost send`, as a request to the hub's REST interface.
struct SendRequest: Sendable {
    enum Content: Sendable {
        /// Properties of a template notification.
        case message([(name: String, value: String)])
        case native(Platform, payload: [UInt8])
    }

    let content: Content
    /// Nil to send to all devices.
    let tags: String?
    /// When to send; nil for at once.
    let dueTime: Timestamp?
    let isTest: Bool
    let pace: Pace?
    /// The APNs broadcast channel to send to instead of devices.
    var channel: String?
    /// Shown to those who may approve the send.
    var note: String?

    private static let largestFile = 65_536

    /// Makes one request for the message, or one for each native payload.
    ///
    /// Throws `usage.value`.
    static func requests(
        of content: ContentOptions, tags: String?, channel: String?, at time: String?, pace: String?, isTest: Bool, note: String?,
        now: Timestamp
    ) throws(PushError) -> [SendRequest] {
        if let note, note.isEmpty || note.count > SendGuard.maximumNoteLength || !note.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) {
            throw value("--note: invalid note", "write one line of at most \(SendGuard.maximumNoteLength) characters")
        }
        let dueTime = try time.map { text throws(PushError) in try Self.dueTime(text, now) }
        guard dueTime == nil || !isTest else { throw value("--test and --at cannot be combined", "remove one of them") }
        let pace = try pace.map { text throws(PushError) in try Self.pace(text) }
        let contents = try contents(of: content)
        if channel != nil {
            guard contents.count == 1, case .native(.apns, _)? = contents.first else {
                throw value("--channel needs one native APNs payload", "pass --native apns FILE, and no text")
            }
        }
        return contents.map {
            SendRequest(content: $0, tags: tags, dueTime: dueTime, isTest: isTest, pace: pace, channel: channel, note: note)
        }
    }

    /// Adds the content in the form of the JSON API, with all platforms in one. Adds nothing if none is given.
    ///
    /// Throws `usage.value`.
    static func addContent(_ content: ContentOptions, to body: inout JSONObject) throws(PushError) {
        guard content.text != nil || !content.message.isEmpty || !content.native.isEmpty else { return }
        var payloads = JSONObject()
        for part in try contents(of: content) {
            switch part {
            case .message(let properties):
                body.append("message", .object(JSONObject(properties.map { ($0.name, JSON.string($0.value)) })))
            case .native(let platform, let payload):
                guard payloads[platform.shortName] == nil else {
                    throw value("--native has two payloads for \(platform.shortName)", "remove one of them")
                }
                payloads.append(platform.shortName, ["payload": .string(String(decoding: payload, as: UTF8.self))])
            }
        }
        if !payloads.isEmpty { body.append("native", .object(payloads)) }
    }

    /// Adds the other options of a send in the form of the JSON API. Throws `usage.value`.
    static func addOptions(at time: String?, pace: String?, now: Timestamp, to body: inout JSONObject) throws(PushError) {
        if let time { body.append("at", .string(try dueTime(time, now).description)) }
        if let pace { body.append("pace", .string(try Self.pace(pace).description)) }
    }

    private static func pace(_ text: String) throws(PushError) -> Pace {
        do throws(PushError) {
            return try Pace(text)
        } catch {
            throw value("--pace: \(error.message)", error.hint ?? "")
        }
    }

    private static func contents(of given: ContentOptions) throws(PushError) -> [Content] {
        let native = given.native
        guard native.isEmpty else {
            guard native.count % 2 == 0 else {
                throw value("--native: expected a platform and a file", "write --native apns FILE")
            }
            guard given.text == nil, given.message.isEmpty else {
                throw value("--native cannot be combined with TEXT or --message", "remove the text; the files are whole payloads")
            }
            var contents: [Content] = []
            for index in stride(from: 0, to: native.count, by: 2) {
                guard let platform = Platform(name: native[index]) else {
                    throw value(
                        "--native: unknown platform \"\(native[index])\"", "use \(Platform.spellings.alternatives)"
                    )
                }
                contents.append(.native(platform, payload: try file(native[index + 1])))
            }
            return contents
        }
        var properties: [(name: String, value: String)] = given.text.map { [("message", $0)] } ?? []
        for pair in given.message {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw value("--message \(pair): invalid property", "write --message name=value")
            }
            let name = String(pair[..<equals])
            guard !properties.contains(where: { $0.name == name }) else {
                throw value(
                    "--message \(pair): the property \(name) is given twice",
                    name == "message" ? "remove it; TEXT is that property" : "remove one of them")
            }
            properties.append((name, String(pair[pair.index(after: equals)...])))
        }
        guard !properties.isEmpty else {
            throw value("no content", "write a text, or pass --message name=value or --native PLATFORM FILE")
        }
        return [.message(properties)]
    }

    private static func file(_ path: String) throws(PushError) -> [UInt8] {
        do {
            return try TextFile.read(path, limit: largestFile, kind: "secrets")
        } catch {
            throw value("--native: \(error.message)", "name a file with the payload")
        }
    }

    /// Parses `2026-12-24T18:00:00Z`, or a duration from now on.
    private static func dueTime(_ text: String, _ now: Timestamp) throws(PushError) -> Timestamp {
        if let dueTime = Timestamp(iso8601: text) {
            guard dueTime > now else { throw value("--at: \(text) has passed", "remove it to send at once") }
            return dueTime
        }
        if let wait = Duration(parsing: text), wait > .zero { return now + wait }
        throw value("--at: invalid time \"\(text)\"", "write 2026-12-24T18:00:00Z, or 90m for in 90 minutes")
    }

    private static func value(_ message: String, _ hint: String) -> PushError { PushError("usage.value", message, hint: hint) }

    // MARK: - On the wire

    /// The path in the hub's REST interface.
    func path(_ hub: String) -> String {
        ManagementClient.path(ofHub: hub, dueTime == nil ? "messages" : "schedulednotifications")
    }

    var query: [(String, String?)] { [("api-version", "2020-06")] + (isTest ? [("test", "")] : []) }

    var headers: HTTPHeaders {
        var headers: HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]
        switch content {
        case .message: headers.add(name: "ServiceBusNotification-Format", value: "template")
        case .native(let platform, _):
            headers.add(name: "ServiceBusNotification-Format", value: platform.format)
            if platform == .wns { headers.replaceOrAdd(name: "Content-Type", value: "text/xml") }
        }
        if let channel { headers.add(name: "apns-channel-id", value: channel) }
        if let tags { headers.add(name: "ServiceBusNotification-Tags", value: tags) }
        if let note { headers.add(name: "ServiceBusNotification-Note", value: note) }
        if let pace { headers.add(name: "ServiceBusNotification-Pace", value: pace.description) }
        if let dueTime { headers.add(name: "ServiceBusNotification-ScheduleTime", value: dueTime.iso8601(fraction: false)) }
        return headers
    }

    var body: [UInt8] {
        switch content {
        case .message: Array(properties.text().utf8)
        case .native(_, let payload): payload
        }
    }

    /// The body of `POST …/render`.
    var preview: JSON {
        var members = JSONObject()
        members["tagExpression"] = tags.map(JSON.string)
        switch content {
        case .message: members["message"] = properties
        case .native(let platform, let payload):
            members["native"] = ["platform": .string(platform.shortName), "payload": .string(String(decoding: payload, as: UTF8.self))]
        }
        return .object(members)
    }

    private var properties: JSON {
        guard case .message(let properties) = content else { return .object(JSONObject()) }
        return .object(JSONObject(properties.map { ($0.name, .string($0.value)) }))
    }
}
