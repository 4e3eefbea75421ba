import HTTPTypes

/// A notification as its request and its answer tell of it.
package struct NotificationSummary: Sendable, Equatable {
    /// Device token, registration token, channel URI or endpoint, as the request has it; of FCM also an installation id,
    /// `/topics/<topic>` or a condition. Nil when the request names none.
    package var handle: String?
    /// The service's word for the refusal; nil when it took the notification.
    package var reason: String?
    /// The id that the service gave the push.
    package var push: String?
}

extension APNsSimulator {
    package func summary(
        of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]
    ) -> NotificationSummary? {
        let path = request.path ?? ""
        // Requests about channels are no notifications.
        if path.hasPrefix("/1/") { return nil }
        let device = "/3/device/"
        let handle =
            path.hasPrefix(device) ? path.dropFirst(device.count).lowercased() : request.headerFields.first("apns-channel-id")
        return NotificationSummary(
            handle: handle, reason: answerBody.isEmpty ? nil : JSONValue(answerBody)?["reason"]?.string,
            push: answer.headerFields.first("apns-id") ?? answer.headerFields.first("apns-request-id"))
    }
}

extension FCMSimulator {
    package func summary(
        of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]
    ) -> NotificationSummary? {
        guard !isGrant(request) else { return nil }
        let message = JSONValue(body)?["message"]
        let told = JSONValue(answerBody)
        let error = told?["error"]
        let code = error?["details"]?.elements?.lazy.compactMap { $0["errorCode"]?.string }.first
        return NotificationSummary(
            handle: message?["token"]?.string ?? message?["fid"]?.string ?? message?["topic"]?.string.map { "/topics/\($0)" }
                ?? message?["condition"]?.string,
            reason: code ?? error?["status"]?.string,
            push: told?["name"]?.string?.split(separator: "/").last.map { String($0) })
    }
}

extension WNSSimulator {
    package func summary(
        of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]
    ) -> NotificationSummary? {
        guard !isGrant(request) else { return nil }
        let fields = answer.headerFields
        let status = fields.first("x-wns-status")
        let reason =
            answer.status == .ok
            ? (status == "received" ? nil : status)
            : WNSReason(status: answer.status.code, description: fields.first("x-wns-error-description"))?.rawValue
        let word = answer.status.code == LabFull.status ? LabFull.reason : reason
        return NotificationSummary(handle: channel(of: request), reason: word, push: fields.first("x-wns-msg-id"))
    }
}

extension WebPushSimulator {
    package func summary(
        of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]
    ) -> NotificationSummary? {
        NotificationSummary(
            handle: endpoint(of: request),
            reason: answer.status.code == LabFull.status
                ? LabFull.reason : WebPushReason(word: String(answer.status.code))?.rawValue,
            push: answer.headerFields.first("location")?.split(separator: "/").last.map { String($0) })
    }
}
