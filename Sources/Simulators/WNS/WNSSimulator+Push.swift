import HTTPTypes
import Synchronization

/// Notifications to channel URIs.
extension WNSSimulator {
    /// 30 days, in milliseconds.
    private static let channelLifetime: Int64 = 30 * 24 * 3_600_000

    /// Returns 200 with `X-WNS-Status`, or an error with `X-WNS-Error-Description`; the body is always empty.
    func push(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        var fields = HTTPFields()
        fields.add("x-wns-msg-id", random.hex(8).uppercased())
        fields.add("x-wns-debug-trace", "DB5WNS0001")
        if let vector = request.headerFields.first("ms-cv") { fields.add("ms-cv", vector) }
        do {
            let id = fields.first("x-wns-msg-id") ?? ""
            try accept(request, body: body, id: id, fields: &fields)
            return (HTTPResponse(status: .ok, headerFields: fields), [])
        } catch {
            fields.add("x-wns-error-description", error.description)
            switch error.reason {
            case .unauthorized: fields.add("www-authenticate", "Bearer")
            case .methodNotAllowed: fields.add("allow", "POST")
            default: break
            }
            if let seconds = error.retryAfter { fields.add("retry-after", String(seconds)) }
            return (HTTPResponse(status: .init(code: error.status), headerFields: fields), [])
        }
    }

    /// The channel URI of a request.
    func channel(of request: HTTPRequest) -> String {
        let own = answers(for: request.host) ? nil : lab.address.authority(of: .wns)
        return "https://\(own ?? request.host)\(request.path ?? "")"
    }

    /// The record of a channel; `nil` for an unknown one. A channel with a token may be adopted.
    private func record(of channel: String, app: String) throws(WNSRefusal) -> HandleRecord? {
        let own = lab.address.authority(of: .wns)
        let isChannel = channel.contains(".notify.windows.com/?token=") || own.map { channel.hasPrefix("https://\($0)/?token=") } == true
        let record =
            isChannel
            ? lab.record(of: channel, adoptingAs: PhoneDescription(name: channel, platform: .wns, app: app))
            : lab.record(of: channel)
        if isChannel, lab.isFull(isKnown: record != nil) { throw .labFull }
        return record?.platform == .wns ? record : nil
    }

    private func accept(
        _ request: HTTPRequest, body: [UInt8], id: String, fields: inout HTTPFields
    ) throws(WNSRefusal) {
        let now = clock.now()
        guard request.method == .post else { throw WNSRefusal(.methodNotAllowed) }
        let bearer = request.headerFields.bearer
        let (settings, token) = state.withLock { state in (state.settings, bearer.flatMap { state.tokens[$0] }) }
        guard let token, token.expiresAt > now else { throw WNSRefusal(.unauthorized) }
        let channel = channel(of: request)
        guard let record = try record(of: channel, app: settings.appName) else { throw WNSRefusal(.notFound) }
        guard record.app == settings.appName, token.packageSID == settings.packageSID else {
            throw WNSRefusal(.forbidden)
        }
        guard record.retiredAt == nil, now - record.issuedAt < Self.channelLifetime else { throw WNSRefusal(.gone) }
        let notification = try WNSRequest(request.headerFields, bodySize: body.count)
        guard body.count <= 5000 else { throw WNSRefusal(.tooLarge) }
        let (isAdmitted, isChannelAdmitted) = state.withLock { state in
            guard state.pushes.admit("", now: now, limit: settings.pushesPerMinute) else { return (false, false) }
            return (true, state.pushes.admit(channel, now: now, limit: settings.pushesPerMinutePerChannel))
        }
        guard isAdmitted else { throw WNSRefusal(.throttled) }
        guard let phone = lab.description(of: record.phone) else { throw WNSRefusal(.gone) }
        let due = faults.next(for: channel)
        let fault = due?.reason ?? (isChannelAdmitted ? nil : .channelThrottled)
        if let fault, fault.status != 200 { throw WNSRefusal(fault, retryAfter: due?.retryAfter) }
        let isOnline = lab.isOnline(record.phone) && fault != .disconnected
        if notification.asksForStatus {
            fields.add("x-wns-deviceconnectionstatus", isOnline ? "connected" : "disconnected")
        }
        if let fault { return fields.add("x-wns-status", fault == .channelThrottled ? fault.rawValue : "dropped") }
        let parcel = notification.parcel(id: id, body: body, for: phone, now: now)
        fields.add("x-wns-status", isOnline || parcel.keeping != nil ? "received" : "dropped")
        lab.accept(parcel, for: record.phone)
    }
}
