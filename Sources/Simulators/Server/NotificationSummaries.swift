package import HTTPTypes

extension APNsSimulator {
    package func summary(
        of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]
    ) -> NotificationSummary? {
        let path = request.path ?? ""
        // Channel requests are not notifications.
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
        let response = JSONValue(answerBody)
        let error = response?["error"]
        let code = error?["details"]?.elements?.lazy.compactMap { $0["errorCode"]?.string }.first
        return NotificationSummary(
            handle: message?["token"]?.string ?? message?["fid"]?.string ?? message?["topic"]?.string.map { "/topics/\($0)" }
                ?? message?["condition"]?.string,
            reason: code ?? error?["status"]?.string,
            push: response?["name"]?.string?.split(separator: "/").last.map { String($0) })
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
