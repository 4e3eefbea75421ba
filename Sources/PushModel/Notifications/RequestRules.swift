extension NotificationRequest {
    /// Validates the request before any work starts, and returns it with normalized handles. Throws `payload.*` and `handle.invalid`.
    ///
    /// - Parameters:
    ///   - platforms: platforms that the notification will reach; nil if unknown, which validates the payloads of all.
    ///   - refusingLarge: whether to reject a native payload above the limit of its push service (413).
    package func checked(reaching platforms: Set<Platform>? = nil, refusingLarge: Bool) throws(PushError) -> NotificationRequest {
        var request = self
        switch audience {
        case .device(let handle): request.audience = .device(try handle.checked())
        case .devices(let handles):
            guard (1...Audience.maximumDevices).contains(handles.count) else {
                throw PushError(
                    "notification.batch", "\(handles.count) device handles; a send accepts 1 to \(Audience.maximumDevices)",
                    hint: "split the send", status: 400)
            }
            request.audience = .devices(try handles.map { handle throws(PushError) in try handle.checked() })
        case .expression(let expression): try Self.checkSize(of: expression)
        case .everyone: break
        }
        try request.check(reaching: platforms, refusingLarge)
        return request
    }

    /// Maximum size of a tag expression, of the headers for all platforms together, and of all template properties, in bytes: that of a
    /// request to a served hub.
    private static let maximumBytes = 65_536

    private static func checkSize(of expression: TagExpression) throws(PushError) {
        let size = expression.byteCount
        guard size <= maximumBytes else {
            throw PushError(
                "tag_expression.invalid", "the tag expression has \(size) bytes; a notification accepts at most 65,536",
                hint: "split the send, or give the devices a common tag", status: 400)
        }
    }

    private static func checkSize(ofHeaders payloads: [Platform: NativePayload]) throws(PushError) {
        let size = payloads.values.reduce(0) { $0 + $1.headerBytes }
        guard size <= maximumBytes else {
            throw PushError(
                "payload.too_large", "the headers have \(size) bytes; a notification accepts at most 65,536 for all platforms together",
                hint: "shorten the values of the headers", status: 413)
        }
    }

    /// The name that `payload.property_name` is about; nil if all names of template properties are valid.
    package static func firstInvalidPropertyName(among names: some Sequence<String>) -> String? {
        names.sorted().first { $0.isEmpty || $0.count > 120 || !$0.utf8.allSatisfy(\.isPropertyCharacter) }
    }

    private func check(reaching platforms: Set<Platform>?, _ refusesLarge: Bool) throws(PushError) {
        switch content {
        case .native(let payloads):
            guard !payloads.isEmpty else {
                throw PushError(
                    "payload.empty", "the notification has no content", hint: "give alert, properties or payload",
                    status: 400)
            }
            try Self.checkSize(ofHeaders: payloads)
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key })
            where platforms?.contains(platform) ?? true {
                try PayloadRules.check(payload, for: platform)
                if refusesLarge { try PayloadRules.checkSize(payload, for: platform) }
            }
            if let handle = audience.handles.first(where: { payloads[$0.platform] == nil }) {
                throw PushError(
                    "payload.no_platform",
                    "the device is on \(handle.platform.displayName), for which there is no payload",
                    hint: "give a payload for \(handle.platform.rawValue)", status: 400)
            }
        case .template(let properties):
            if let name = Self.firstInvalidPropertyName(among: properties.keys) {
                throw PushError(
                    "payload.property_name", "\"\(name)\" is not the name of a template property",
                    hint: "names are letters, digits and _, at most 120", status: 400)
            }
            let size = properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 }
            guard size <= Self.maximumBytes else {
                throw PushError(
                    "payload.too_large", "the properties have \(size) bytes; a message to the hub has at most 65,536",
                    hint: "send an id and let the app fetch the rest", status: 413)
            }
            if !audience.handles.isEmpty {
                throw PushError(
                    "payload.template_direct", "a template cannot be sent to a device handle: it has no registration",
                    hint: "send alert or payload", status: 400)
            }
        }
        if let collapse = options.collapseID {
            guard (1...64).contains(collapse.utf8.count) else {
                throw PushError(
                    "payload.collapse_id", "the collapse id has \(collapse.utf8.count) bytes; APNs accepts 1 to 64",
                    hint: "choose a shorter id", status: 400)
            }
            guard collapse.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
                throw PushError(
                    "payload.collapse_id", "the collapse id has characters that are invalid in a header",
                    hint: "use ASCII letters, digits and punctuation", status: 400)
            }
        }
    }
}
