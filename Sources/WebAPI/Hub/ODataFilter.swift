import HubWire
package import PushModel

/// The parameter `$filter` of `GET registrations`, as in OData: which handle the registrations have.
///
/// .NET and Java write `ChannelUri eq '…'` for every platform, so a filter with one text finds registrations of any platform with that
/// handle.
package struct ODataFilter: Sendable {
    /// The possible filters, at least one.
    package let filters: [RegistrationFilter]

    /// Throws `registration.filter` (400) for an unknown field or an invalid handle.
    /// - Parameter text: Decoded once; a value that is still encoded is decoded again.
    package init(parsing text: String) throws(PushError) {
        var values: [String: String] = [:]
        for clause in Self.clauses(text) {
            guard let (name, value) = Self.comparison(clause) else {
                throw Self.refusal("invalid comparison \"\(clause)\"", "write $filter=ChannelUri eq 'HANDLE'")
            }
            guard let field = Self.fields[name.lowercased()] else {
                throw Self.refusal("unknown field \"\(name)\"", "filter by ChannelUri, whatever the platform")
            }
            values[field] = value
        }
        var found: [RegistrationFilter]
        switch (values["user"], values["channel"], values["endpoint"], values["p256dh"], values["auth"]) {
        case (let user?, let channel?, _, _, _):
            found = (try? DeviceHandle(user: user, channel: channel)).map { [.handle($0)] } ?? []
        case (_, _, let endpoint?, let p256dh?, let auth?):
            found = (try? DeviceHandle(endpoint: endpoint, p256dh: p256dh, auth: auth)).map { [.handle($0)] } ?? []
        case (_, _, let endpoint?, nil, nil): found = [.endpoint(endpoint)]
        default:
            let text = values["handle"] ?? ""
            found = Platform.allCases.compactMap { platform in (try? DeviceHandle(platform: platform, text: text)).map { .handle($0) } }
            if text.lowercased().hasPrefix("https://") { found.append(.endpoint(text)) }
        }
        guard !found.isEmpty else {
            throw Self.refusal("\"\(text)\" does not compare with a valid handle", "write $filter=ChannelUri eq 'HANDLE'")
        }
        filters = found
    }

    /// The meaning of fields, by lower-case name.
    private static let fields = [
        "channeluri": "handle", "devicetoken": "handle", "gcmregistrationid": "handle", "fcmregistrationid": "handle",
        "fcmv1registrationid": "handle", "admregistrationid": "handle", "xiaomiregistrationid": "handle", "baiduuserid": "user",
        "baiduchannelid": "channel", "endpoint": "endpoint", "p256dh": "p256dh", "auth": "auth",
    ]

    /// Splits at ` and `. Handles contain no spaces, so this is safe even if a client omits a quote.
    private static func clauses(_ text: String) -> [String] {
        var clauses: [[Substring]] = [[]]
        for word in text.split(whereSeparator: \.isWhitespace) {
            if word.lowercased() == "and" { clauses.append([]) } else { clauses[clauses.count - 1].append(word) }
        }
        return clauses.map { $0.joined(separator: " ") }
    }

    private static func comparison(_ clause: String) -> (name: String, value: String)? {
        let words = clause.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[1].lowercased() == "eq" else { return nil }
        var value = words[2]
        if value.hasPrefix("'") { value.removeFirst() }
        if value.hasSuffix("'") { value.removeLast() }
        let text = String(value).replacing("''", with: "'")
        // A URL keeps its own escapes. Other handles contain no percent sign.
        let isAddress = text.prefix(8).lowercased().hasPrefix("http") && text.contains("://")
        return (String(words[0]), isAddress ? text : PercentEncoding.decode(text))
    }

    private static func refusal(_ why: String, _ hint: String) -> PushError {
        PushError("registration.filter", why, hint: hint, status: 400)
    }
}
