/// Targets that get the same bytes: one platform, one template, the same variables.
struct RenderedGroup: Sendable {
    var platform: Platform
    var body: [UInt8]
    var headers: [PushHeader]
    var targets: [Targets.Target] = []
    /// Where each target stands in the list of the send.
    var places: [Int] = []
    /// What came out of the template's expressions and cannot be used.
    var flaw: String?

    /// Groups in the order of their first target, so that the same send crosses the wire in the same order.
    static func groups(of targets: Targets, for request: NotificationRequest) -> [RenderedGroup] {
        struct Key: Hashable {
            var platform: Platform
            var template: RegistrationTemplate.Content?
            var variables: [String: String]
        }
        var message = TemplateProperties([:])
        if case .template(let properties) = request.content { message = TemplateProperties(properties) }
        var groups: [RenderedGroup] = []
        var found: [Key: Int] = [:]
        for (place, target) in targets.list.enumerated() {
            let variables = target.usedVariables
            let key = Key(
                platform: target.handle.platform, template: target.template?.content, variables: variables)
            let group: Int
            if let known = found[key] {
                group = known
            } else {
                group = groups.count
                found[key] = group
                groups.append(RenderedGroup(target, request.content, message.with(fallback: variables)))
            }
            groups[group].targets.append(target)
            groups[group].places.append(place)
        }
        return groups
    }

    private init(_ target: Targets.Target, _ content: NotificationContent, _ properties: TemplateProperties) {
        platform = target.handle.platform
        switch content {
        case .native(let payloads):
            body = payloads[platform]?.body ?? []
            headers = payloads[platform]?.headers ?? []
        case .template:
            body = target.template?.compiled.render(properties) ?? []
            (headers, flaw) = target.template?.headers(properties) ?? ([], nil)
        }
    }

    var isTemplate: Bool { targets.first?.template != nil }

    /// The limit, where the body is beyond it.
    var exceededLimit: Int? {
        let limit = PayloadRules.limit(for: platform, headers: headers)
        return body.count > limit ? limit : nil
    }
}

extension Targets.Target {
    /// The push variables that the target's template looks at; the others make no difference to the bytes.
    fileprivate var usedVariables: [String: String] {
        guard let template, !pushVariables.isEmpty else { return [:] }
        return pushVariables.filter { template.variables.contains($0.key.lowercased()) }
    }
}

extension RegistrationTemplate {
    /// The headers with their expressions filled in. For APNs an expiry becomes `apns-expiration` and a priority
    /// `apns-priority`, unless the template has these headers itself; one that is none is left out and named.
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
