import PushModel

/// Targets that get the same bytes: one platform, one template, the same variables.
struct RenderedGroup: Sendable {
    let platform: Platform
    let body: [UInt8]
    let headers: [PushHeader]
    /// As in `Targets.Group`.
    let members: [UInt32]
    let isTemplate: Bool
    /// The template name of the first target.
    let templateName: String?
    /// Header values of the template that cannot be used, as text.
    let flaw: String?

    static func groups(of targets: Targets, for request: NotificationRequest) -> [RenderedGroup] {
        let message = TemplateProperties(request.content)
        return targets.groups.map { RenderedGroup($0, request.content, message.with(fallback: $0.variables)) }
    }

    private init(_ group: Targets.Group, _ content: NotificationContent, _ properties: TemplateProperties) {
        platform = group.platform
        members = group.members
        isTemplate = group.template != nil
        templateName = group.template?.name
        switch content {
        case .native(let payloads):
            body = payloads[platform]?.body ?? []
            headers = payloads[platform]?.headers ?? []
            flaw = nil
        case .template:
            body = group.template?.compiled.render(properties) ?? []
            (headers, flaw) = group.template?.headers(properties) ?? ([], nil)
        }
    }

    var recipients: RecipientGroup { RecipientGroup(platform: platform, templateName: templateName) }

    /// The size limit, if the body exceeds it.
    var exceededLimit: Int? {
        let limit = PayloadRules.limit(for: platform, headers: headers)
        return body.count > limit ? limit : nil
    }
}

extension TemplateProperties {
    /// The properties of a message; empty for native payloads.
    init(_ content: NotificationContent) {
        if case .template(let properties) = content { self.init(properties) } else { self.init([:]) }
    }
}

extension RegistrationTemplate {
    /// The headers with evaluated expressions. For APNs, an expiry becomes `apns-expiration` and a priority `apns-priority`, unless the
    /// template sets these headers itself. Invalid values are left out and returned as `flaw`.
    func headers(_ properties: TemplateProperties) -> (headers: [PushHeader], flaw: String?) {
        var filled = zip(headers, compiledHeaders).map { PushHeader($0.name, $1.evaluate(properties)) }
        guard platform == .apns else { return (filled, nil) }
        var flaws: [String] = []
        func add(_ name: String, _ value: String?, _ flaw: @autoclosure () -> String) {
            guard !filled.contains(where: { $0.name.lowercased() == name }) else { return }
            if let value { filled.append(PushHeader(name, value)) } else { flaws.append(flaw()) }
        }
        if let text = compiledExpiry?.evaluate(properties) {
            let seconds = text == "0" ? text : Timestamp(date: text).map { String($0.seconds) }
            add("apns-expiration", seconds, "the expiry \"\(text)\" is neither a date nor 0")
        }
        if let text = compiledPriority?.evaluate(properties) {
            add(
                "apns-priority", UInt8(text).map { String($0) },
                "the priority \"\(text)\" is not a number from 0 to 255")
        }
        return (filled, flaws.isEmpty ? nil : flaws.joined(separator: "; "))
    }
}
