/// A template body with its headers and options. Compiled on creation, so that an invalid one is rejected at registration.
package struct RegistrationTemplate: Sendable, Equatable {
    /// The inputs of rendering. Two templates with equal content render the same bytes.
    package struct Content: Hashable, Sendable {
        let platform: Platform
        let body: String
        let headers: [PushHeader]
        let expiry: String?
        let priority: String?
    }

    package let name: String?
    package let content: Content
    package let compiled: Template
    package let compiledHeaders: [TemplateExpression]
    package let compiledExpiry: TemplateExpression?
    package let compiledPriority: TemplateExpression?
    /// Lower-cased names of all properties used by the body, headers, expiry or priority.
    package let variables: Set<String>

    package var platform: Platform { content.platform }
    package var body: String { content.body }
    /// APNs, WNS or other headers. Values may be template expressions.
    package var headers: [PushHeader] { content.headers }
    /// When the notification expires: a date, `0`, or an expression that gives one. APNs only.
    package var expiry: String? { content.expiry }
    /// `apns-priority`: a number up to 255, or an expression that gives one. APNs only.
    package var priority: String? { content.priority }

    /// Throws `template.*` with the position in the body. Among them: `template.name` for a name over 200 characters, `template.format` for
    /// a body that the platform cannot accept, `template.header`, `template.expiry` and `template.priority` for an invalid header or
    /// option.
    package init(
        name: String? = nil, body: String, headers: [PushHeader] = [], expiry: String? = nil, priority: String? = nil,
        platform: Platform
    ) throws(PushError) {
        if let name, name.count > Self.maximumNameLength { throw Self.refusal(ofNameWith: name.count) }
        var headers = headers
        let body = body.withoutByteOrderMark
        do {
            compiled = try Template(compiling: body)
            if platform == .wns, !headers.contains(where: \.isWNSType) {
                headers.append(PushHeader("X-WNS-Type", try Self.wnsType(of: body, format: compiled.format)))
            }
            if platform == .mpns { headers += try Self.mpnsHeaders(missingIn: headers, of: body, format: compiled.format) }
            compiledHeaders = try headers.map { header throws(TemplateError) in
                try TemplateExpression(parsing: header.value)
            }
            compiledExpiry = try expiry.map { text throws(TemplateError) in try TemplateExpression(parsing: text) }
            compiledPriority = try priority.map { text throws(TemplateError) in try TemplateExpression(parsing: text) }
        } catch let error as TemplateError {
            throw PushError(error, in: body)
        } catch let error as PushError {
            throw error
        } catch {
            throw PushError("template.invalid", "the template cannot be read", status: 400)
        }
        let beside = compiledHeaders + [compiledExpiry, compiledPriority].compactMap { $0 }
        variables = Set(compiled.variables + beside.flatMap(\.variables))
        content = Content(platform: platform, body: body, headers: headers, expiry: expiry, priority: priority)
        self.name = name
        switch platform {
        case .apns:
            try checkIsObject()
            try checkAPNs()
        case .fcmV1, .gcm: try checkIsObject()
        case .wns: try checkWNS()
        case .browser, .mpns, .baidu, .xiaomi: break
        case .adm: try checkIsObject()
        }
    }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name && lhs.content == rhs.content }

    /// Maximum number of characters of a name.
    package static let maximumNameLength = 200

    /// The error `template.name` for a name with too many characters.
    package static func refusal(ofNameWith count: Int) -> PushError {
        PushError(
            "template.name", "the template name has \(count) characters; the limit is \(maximumNameLength)", hint: "shorten the name",
            status: 400)
    }

    // MARK: - Requirements of the platforms

    private func checkIsObject() throws(PushError) {
        guard compiled.format == .json, body.unicodeScalars.first(where: Self.isContent) == "{" else {
            throw PushError(
                "template.format", "a template for \(platform.displayName) is a JSON object",
                hint: "start it with \"{\"", status: 400)
        }
    }

    private static func isContent(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && scalar != "\u{FEFF}"
    }

    private func checkAPNs() throws(PushError) {
        for (header, value) in zip(headers, compiledHeaders) {
            let name = header.name.lowercased()
            guard name.hasPrefix("apns-") else {
                throw PushError(
                    "template.header", "\"\(header.name)\" is not a header of APNs",
                    hint: "their names start with apns-",
                    status: 400)
            }
            if name == "apns-priority" { try Self.checkPriority(value) }
        }
        if let compiledPriority { try Self.checkPriority(compiledPriority) }
        if let text = compiledExpiry?.literalText, text != "0", Timestamp(date: text) == nil {
            throw PushError(
                "template.expiry", "the expiry \"\(text)\" is neither a date nor 0",
                hint: "write 2026-01-31T12:00:00Z, 0 for \"now or never\", or an expression such as $(expiry)",
                status: 400)
        }
    }

    private static func checkPriority(_ value: TemplateExpression) throws(PushError) {
        guard let text = value.literalText, UInt8(text) == nil else { return }
        throw PushError(
            "template.priority", "the priority \"\(text)\" is not a number from 0 to 255",
            hint: "APNs accepts 10, 5 and 1", status: 400)
    }

    /// The values of `X-WNS-Type` that require an XML document, named like its root element.
    static let wnsDocumentTypes = ["wns/toast", "wns/tile", "wns/badge"]

    private func checkWNS() throws(PushError) {
        guard let index = headers.firstIndex(where: \.isWNSType), let text = compiledHeaders[index].literalText else {
            return
        }
        let types = Self.wnsDocumentTypes + ["wns/raw"]
        guard types.contains(text.lowercased()) else {
            throw PushError(
                "template.header", "unknown X-WNS-Type \"\(text)\"", hint: "use one of \(types.joined(separator: ", "))",
                status: 400)
        }
        if text.lowercased() != "wns/raw" { _ = try Self.wnsType(of: body, format: compiled.format) }
    }

    /// The MPNS headers that are missing, derived from the body. JSON and any body with the class of raw notifications need none but the
    /// class: they go to the app unchanged.
    private static func mpnsHeaders(
        missingIn headers: [PushHeader], of body: String, format: Template.Format
    ) throws(PushError) -> [PushHeader] {
        let names = ["X-NotificationClass", "X-WindowsPhone-Target"]
        let known = Set(headers.map { $0.name.lowercased() })
        if let given = headers.first(where: { $0.name.lowercased() == names[0].lowercased() })?.value {
            guard let number = UInt8(given), [1, 2, 3, 11, 12, 13, 21, 22, 23].contains(number) else {
                throw PushError(
                    "template.header", "unknown X-NotificationClass \"\(given)\"",
                    hint: "use 1 for tiles, 2 for toasts and 3 for raw notifications; add 10 or 20 to deliver them later", status: 400)
            }
            if number % 10 == 3 { return [] }
        } else if format == .json {
            return [PushHeader(names[0], "3")]
        }
        guard let type = Template.mpnsType(of: body) else {
            throw PushError(
                "template.format", "an MPNS template is a Notification of the namespace WPNotification with a Toast or a Tile",
                hint: "for anything else set the header X-NotificationClass to 3", status: 400)
        }
        let derived = type == .toast ? ["2", "toast"] : ["1", "token"]
        return zip(names, derived).filter { !known.contains($0.0.lowercased()) }.map { PushHeader($0.0, $0.1) }
    }

    /// The value of `X-WNS-Type` derived from the body; JSON is sent as raw.
    private static func wnsType(of body: String, format: Template.Format) throws(PushError) -> String {
        if format == .json { return "wns/raw" }
        guard let type = Template.wnsType(of: body) else {
            throw PushError(
                "template.format", "the root element of a WNS template is toast, tile or badge",
                hint: "for anything else set the header X-WNS-Type to wns/raw", status: 400)
        }
        return type
    }
}

extension RegistrationTemplate {
    /// Expressions inside longer values of the body, then of the headers.
    package var embeddedExpressions: [EmbeddedExpression] { compiled.embeddedExpressions + headers.compactMap(\.embeddedExpression) }
}

extension TemplateExpression {
    /// The value if it does not depend on the message; otherwise nil.
    fileprivate var literalText: String? { isLiteral ? evaluate(TemplateProperties([:])) : nil }
}

extension PushHeader {
    fileprivate var isWNSType: Bool { name.lowercased() == "x-wns-type" }
}
