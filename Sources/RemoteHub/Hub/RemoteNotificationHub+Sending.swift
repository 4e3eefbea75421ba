import HubWire
import NIOHTTP1
import PushModel

// Sends and their outcomes. The interface accepts one platform at a time, so a notification with payloads for several has several ids
// there. Here it is one notification whose id joins these ids with commas.
extension RemoteNotificationHub {
    static let separator: Character = ","

    /// Each message carries an `Idempotency-Key`, so a PushHost sends it once even if the request is repeated. Azure ignores the key, so a
    /// request whose response was lost is not repeated there.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        if options.usesJSONInterface, let body = try document(request, at: nil) {
            return try await outcomeOfAccepted(try await accept(body), tags: request.audience.words)
        }
        let messages = try messages(request)
        if request.isTest { return try await test(request, messages) }
        let ids = try await accept(messages, "messages", at: nil)
        return try await outcomeOfAccepted(ids.joined(separator: String(Self.separator)), tags: request.audience.words)
    }

    /// Waits for the outcome of an accepted send. A failure to read the outcome must not look as if the send could be repeated.
    func outcomeOfAccepted(_ id: String, tags: String? = nil) async throws(PushError) -> NotificationOutcome {
        do throws(PushError) {
            return try await finish(id)
        } catch  where error.code == "cancelled" {
            throw error
        } catch  where error.code.hasPrefix("lab.") {
            // The run has lost its phones and its clock, so it cannot continue.
            var error = error
            (error.isRetryable, error.details["may_be_done"], error.details["accepted"]) = (false, true, .string(id))
            throw error
        } catch {
            return NotificationOutcome(id: id, state: .enqueued, tags: tags, enqueuedAt: clock.now)
        }
    }

    package func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome {
        let ids: [String]
        if options.usesJSONInterface, let body = try document(request, at: moment) {
            ids = [try await accept(body)]
        } else {
            ids = try await accept(messages(request), "schedulednotifications", at: moment)
        }
        return NotificationOutcome(
            id: ids.joined(separator: String(Self.separator)), state: .scheduled, tags: request.audience.words, enqueuedAt: clock.now,
            scheduledFor: moment)
    }

    package func cancel(notification id: String) async throws(PushError) {
        var cancelled = 0
        for id in parts(id) {
            do throws(PushError) {
                _ = try await ask(.DELETE, "schedulednotifications/\(PercentEncoding.encode(id))", isRepeatable: false)
                cancelled += 1
            } catch  where cancelled > 0 && error.code == "notification.not_found" {
                // The parts of one notification are sent one after the other.
                throw PushError(
                    "notification.not_found", "\(id) has already been sent; another part of the same notification was cancelled",
                    hint: "push.outcome reads its result", status: error.status)
            } catch  where error.code == "hub.not_found" {
                throw Self.unknown(id)
            }
        }
    }

    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        var outcomes: [NotificationOutcome] = []
        for id in parts(id) { outcomes.append(try await one(id)) }
        return NotificationOutcome(merging: outcomes, id: id)
    }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        try await options.settle()
        let deadline = options.patience.map { clock.now + $0 }
        var known: [NotificationOutcome] = []
        for id in parts(id) { known.append(try await follow(id, until: deadline)) }
        var outcome = NotificationOutcome(merging: known, id: id)
        if options.isPushHost, outcome.state.isFinal { await addDevices(to: &outcome) }
        return outcome
    }

    // MARK: - Outcomes

    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(2)

    private func parts(_ id: String) -> [String] { id.split(separator: Self.separator).map(String.init) }

    /// Returns the outcome once it is final, scheduled for later, or the deadline has passed.
    private func follow(_ id: String, until deadline: Timestamp?) async throws(PushError) -> NotificationOutcome {
        var pause = Self.shortestPause
        while true {
            let outcome: NotificationOutcome
            do throws(PushError) {
                outcome = try await one(id)
            } catch  where error.code == "notification.not_found" && !options.isPushHost {
                // Azure reports nothing for some time, which can be half an hour.
                outcome = NotificationOutcome(id: id, state: .enqueued, tags: nil, enqueuedAt: clock.now)
            }
            if outcome.state.isFinal || outcome.state == .scheduled && !outcome.isDue(at: clock.now) { return outcome }
            if let deadline, clock.now + pause > deadline { return outcome }
            do {
                try await clock.sleep(until: clock.now + pause)
            } catch let error as PushError {
                throw error
            } catch {
                throw PushError("cancelled", "the wait for \(id) was cancelled")
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func one(_ id: String) async throws(PushError) -> NotificationOutcome {
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await ask(.GET, "messages/\(PercentEncoding.encode(id))")
        } catch  where error.code == "hub.not_found" {
            throw Self.unknown(id)
        }
        do {
            return try NotificationOutcome(details: answer.body, id: id)
        } catch {
            throw unreadable("cannot be read: \(error.message)")
        }
    }

    private static func unknown(_ id: String) -> PushError {
        PushError(
            "notification.not_found", "the hub has no notification \(id)", hint: "check the id; the notification may be too new or too old",
            status: 404)
    }

    // MARK: - Messages

    private struct RemoteMessage {
        /// Nil for templates.
        var platform: Platform?
        var flags = ""
        var place: String?
        var headers: HTTPHeaders
        var body: [UInt8]
    }

    private func accept(
        _ messages: [RemoteMessage], _ place: String, at moment: Timestamp?
    ) async throws(PushError) -> [String] {
        let key = client.random.uuid()
        var ids: [String] = []
        for (number, message) in messages.enumerated() {
            var headers = message.headers
            if let moment { headers.add(name: "ServiceBusNotification-ScheduleTime", value: moment.iso8601(fraction: false)) }
            headers.add(name: "Idempotency-Key", value: messages.count == 1 ? key : "\(key)-\(number + 1)")
            do throws(PushError) {
                let answer = try await ask(
                    .POST, message.place ?? place, message.flags, headers, message.body, isRepeatable: options.isPushHost,
                    isSingular: true)
                guard let id = answer.lastPartOfLocation else { throw unreadable("to the send has no Location", isSent: true) }
                ids.append(id)
            } catch {
                throw Self.telling(error, accepted: ids)
            }
        }
        return ids
    }

    /// Sends through the JSON interface. Returns the id.
    func accept(_ body: JSON) async throws(PushError) -> String {
        let answer = try await details("notifications", by: .POST, ["Idempotency-Key": client.random.uuid()], body: body, isSingular: true)
        guard let id = answer["notificationId"]?.string else { throw unreadable("to the send has no notificationId", isSent: true) }
        return id
    }

    /// The request as JSON; nil if JSON cannot express it.
    private func document(_ request: NotificationRequest, at moment: Timestamp?) throws(PushError) -> JSON? {
        let request = try request.checked(refusingLarge: true)
        var body = JSONObject()
        switch request.audience {
        case .everyone: body["audience"] = ["broadcast": "everyone"]
        case .expression(let expression): body["audience"] = ["tagExpression": .string("\(expression)")]
        case .device, .devices: return nil
        }
        switch request.content {
        case .template(let properties):
            body["message"] = .object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }))
        case .native(let payloads):
            var native = JSONObject()
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) {
                guard let text = String(validating: payload.body, as: UTF8.self) else { return nil }
                let headers = JSONObject(payload.headers.map { ($0.name, JSON.string($0.value)) })
                native[platform.shortName] = ["payload": .string(text), "headers": .object(headers)]
            }
            body["native"] = .object(native)
        }
        body["expiresAt"] = request.options.expiration.map { .string($0.description) }
        body["priority"] = request.options.priority.map { .string($0.rawValue) }
        body["collapseId"] = request.options.collapseID.map { .string($0) }
        body["at"] = moment.map { .string($0.description) }
        if request.isTest { body["test"] = true }
        body["pace"] = request.pace.map { .string($0.description) }
        return .object(body)
    }

    /// Adds the platforms that have accepted the notification, so that it is not sent to them again.
    private static func telling(_ error: PushError, accepted ids: [String]) -> PushError {
        guard !ids.isEmpty else { return error }
        var error = error
        error.message += "; other platforms have already accepted it, as \(ids.joined(separator: ", "))"
        error.hint = error.hint.map { "\($0); do not send it again to everyone" }
        error.isRetryable = false
        error.details["accepted"] = .array(ids.map(JSON.string))
        return error
    }

    private func test(_ request: NotificationRequest, _ messages: [RemoteMessage]) async throws(PushError) -> NotificationOutcome {
        var outcomes: [NotificationOutcome] = []
        for message in messages {
            let answer = try await ask(
                .POST, message.place ?? "messages", "\(message.flags)&test", message.headers, message.body, isRepeatable: false)
            let id = answer.lastPartOfLocation ?? "test-\(outcomes.count + 1)"
            do throws(PushError) {
                outcomes.append(try NotificationOutcome(test: answer.body, id: id, tags: request.audience.words, now: clock.now))
            } catch {
                throw unreadable("cannot be read: \(error.message)")
            }
        }
        var outcome = NotificationOutcome(merging: outcomes, id: outcomes.map(\.id).joined(separator: String(Self.separator)))
        if options.isPushHost { await addDevices(to: &outcome) }
        return outcome
    }

    /// The HTTP messages for a request. Throws the hub's validation errors before anything is sent; `target.unsupported` for options that
    /// the interface does not support.
    private func messages(_ request: NotificationRequest) throws(PushError) -> [RemoteMessage] {
        let request = try request.checked(refusingLarge: true)
        let common = try headers(request)
        switch request.content {
        case .template(let properties):
            var headers = common
            headers.add(name: "ServiceBusNotification-Format", value: "template")
            headers.add(name: "Content-Type", value: "application/json;charset=utf-8")
            let body = JSON.object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) })).serialized()
            return [RemoteMessage(headers: headers, body: body)]
        case .native(let payloads):
            let wanted = Set(request.audience.handles.map { $0.platform })
            var messages: [RemoteMessage] = []
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) where wanted.isEmpty || wanted.contains(platform) {
                messages.append(try message(platform, payload, request, common))
            }
            return messages
        }
    }

    private func message(
        _ platform: Platform, _ payload: NativePayload, _ request: NotificationRequest, _ common: HTTPHeaders
    ) throws(PushError) -> RemoteMessage {
        let payload = payload.with(request.options, for: platform, now: clock.now)
        var message = RemoteMessage(platform: platform, headers: common, body: payload.body)
        message.headers.add(name: "ServiceBusNotification-Format", value: platform.format)
        for header in payload.headers { message.headers.add(name: header.name, value: header.value) }
        let type = payload.contentType(platform)
        let handles = request.audience.handles.filter { $0.platform == platform }
        switch handles.count {
        case 0: message.headers.add(name: "Content-Type", value: type)
        case 1:
            message.flags = "&direct"
            message.headers.add(name: "Content-Type", value: type)
            if case .browser(let endpoint, let p256dh, let auth) = handles[0] {
                message.headers.add(contentsOf: [
                    ("ServiceBusNotification-DeviceHandle", endpoint), ("P256DH", p256dh), ("Auth", auth),
                ])
            } else {
                message.headers.add(name: "ServiceBusNotification-DeviceHandle", value: handles[0].text)
            }
        default:
            let boundary = "pushhost-\(client.random.hex(24))"
            message.flags = "&direct"
            message.place = "messages/$batch"
            message.headers.add(name: "Content-Type", value: "multipart/mixed; boundary=\"\(boundary)\"")
            message.body = Self.batch(payload.body, type, handles, boundary)
        }
        return message
    }

    private static func batch(_ body: [UInt8], _ type: String, _ handles: [DeviceHandle], _ boundary: String) -> [UInt8] {
        var bytes = Array("--\(boundary)\r\nContent-Type: \(type)\r\nContent-Disposition: inline; name=notification\r\n\r\n".utf8)
        bytes += body
        bytes += Array(
            "\r\n--\(boundary)\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n".utf8)
        bytes += JSON.array(handles.map(\.subscription)).serialized()
        bytes += Array("\r\n--\(boundary)--\r\n".utf8)
        return bytes
    }

    private func headers(_ request: NotificationRequest) throws(PushError) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        if let words = request.audience.words { headers.add(name: "ServiceBusNotification-Tags", value: words) }
        let wanted = request.options
        if case .template = request.content, !options.isPushHost, wanted.priority != nil || wanted.collapseID != nil {
            throw PushError(
                "target.unsupported", "\(address.host) supports neither priority nor collapse_id with templates",
                hint: "write them into the templates, or send alert or payload", status: 400)
        }
        if let pace = request.pace {
            guard options.isPushHost else {
                throw PushError(
                    "target.unsupported", "\(address.host) does not support pace",
                    hint: "leave out pace, or send to parts of the audience", status: 400)
            }
            headers.add(name: "ServiceBusNotification-Pace", value: pace.description)
        }
        if let moment = wanted.expiration {
            headers.add(name: "ServiceBusNotification-Apns-Expiry", value: moment.iso8601(fraction: false))
            headers.add(name: "ServiceBusNotification-Expiration", value: moment.iso8601(fraction: false))
        }
        if let priority = wanted.priority { headers.add(name: "ServiceBusNotification-Urgency", value: priority.rawValue) }
        if let id = wanted.collapseID { headers.add(name: "ServiceBusNotification-CollapseId", value: id) }
        return headers
    }
}

extension Audience {
    /// The value of `ServiceBusNotification-Tags`; nil for everyone and for handles.
    fileprivate var words: String? { expression.map { "\($0)" } }
}
