/// One operation of an installation's PATCH (RFC 6902, as far as Azure takes it; "Patch an installation").
package struct PatchOperation: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case add, remove, replace }

    package var kind: Kind
    /// `/pushChannel`, `/tags`, `/tags/{tag}`, `/templates/{name}`, `/templates/{name}/body` …
    package var path: String
    package var value: JSON?

    package init(_ kind: Kind, _ path: String, _ value: JSON? = nil) {
        self.kind = kind
        self.path = path
        self.value = value
    }
}

extension Installation {
    /// Applies every operation or none. Throws `installation.patch` naming the operation that does not fit,
    /// `tag.invalid` and `handle.invalid` for such values.
    package mutating func apply(_ operations: [PatchOperation]) throws(PushError) {
        var changed = self
        for operation in operations { try changed.apply(PatchStep(operation)) }
        self = changed
    }

    private mutating func apply(_ step: PatchStep) throws(PushError) {
        switch (step.path.first, step.path.count) {
        case ("pushChannel", 1): try setChannel(step)
        case ("userId", 1): userID = try step.optionalText()
        case ("expirationTime", 1):
            guard let text = try step.optionalText() else {
                expiration = nil
                return
            }
            guard let moment = Timestamp(iso8601: text) else {
                throw step.refusal("the value must be an ISO 8601 time")
            }
            expiration = moment
        case ("tags", 1...2): tags = try step.changing(tags, element: step.path.dropFirst().first)
        case ("pushVariables", 1):
            guard step.kind != .remove else {
                pushVariables = [:]
                return
            }
            guard let object = try step.value().object else { throw step.refusal("the value must be an object") }
            pushVariables = Dictionary(uniqueKeysWithValues: object.members.map { ($0.key, $0.value.plainText) })
        case ("pushVariables", 2):
            let name = step.path[1]
            if step.kind != .remove {
                pushVariables[name] = try step.required().plainText
            } else if pushVariables.removeValue(forKey: name) == nil {
                throw step.refusal("there is no such variable")
            }
        case ("templates", 2):
            let name = step.path[1]
            if step.kind != .remove {
                templates[name] = try InstallationTemplate(step)
            } else if templates.removeValue(forKey: name) == nil {
                throw step.refusal("there is no such template")
            }
        case ("templates", 3...4):
            guard var template = templates[step.path[1]] else { throw step.refusal("there is no such template") }
            try template.apply(step, member: step.path[2], element: step.path.count > 3 ? step.path[3] : nil)
            templates[step.path[1]] = template
        default:
            throw step.refusal("no such path")
        }
    }

    private mutating func setChannel(_ step: PatchStep) throws(PushError) {
        guard step.kind != .remove else { throw step.refusal("an installation always has a channel") }
        let changed: DeviceHandle
        if handle.platform == .browser {
            changed = try DeviceHandle(subscription: step.value())
        } else {
            changed = try DeviceHandle(platform: handle.platform, text: step.text())
        }
        if changed != handle { isPushChannelExpired = false }
        handle = changed
    }
}

extension InstallationTemplate {
    fileprivate init(_ step: PatchStep) throws(PushError) {
        guard let object = try step.value().object, let body = (object["body"] ?? object["bodyTemplate"])?.string else {
            throw step.refusal("a template is an object with a body")
        }
        self.init(body: body)
        if let headers = object["headers"], !headers.isNull {
            guard let object = headers.object else { throw step.refusal("headers must be an object") }
            self.headers = object.headers
        }
        expiry = object["expiry"].flatMap { $0.isNull ? nil : $0.plainText }
        if let tags = object["tags"], !tags.isNull { self.tags = try step.tags(in: tags) }
    }

    fileprivate mutating func apply(_ step: PatchStep, member: String, element: String?) throws(PushError) {
        switch (member, element) {
        case ("body", nil):
            guard step.kind != .remove else { throw step.refusal("a template always has a body") }
            body = try step.text()
        case ("expiry", nil): expiry = try step.optionalText()
        case ("headers", nil):
            guard step.kind != .remove else {
                headers = []
                return
            }
            guard let object = try step.value().object else { throw step.refusal("headers must be an object") }
            headers = object.headers
        case ("tags", _): tags = try step.changing(tags ?? [], element: element)
        default: throw step.refusal("a template has body, headers, expiry and tags")
        }
    }
}

/// An operation with its path taken apart.
private struct PatchStep {
    let kind: PatchOperation.Kind
    let path: [String]
    private let operation: PatchOperation

    init(_ operation: PatchOperation) throws(PushError) {
        self.operation = operation
        kind = operation.kind
        path = operation.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(Self.unescaped)
        guard operation.path.hasPrefix("/") else { throw refusal("the path must begin with /") }
        guard !path.contains("") else { throw refusal("no such path") }
    }

    func refusal(_ why: String) -> PushError {
        PushError(
            "installation.patch", "\(kind.rawValue) \(operation.path): \(why)",
            hint: "paths are /pushChannel, /userId, /expirationTime, /tags, /tags/{tag}, "
                + "/templates/{name}[/body|headers|expiry|tags], /pushVariables/{name}",
            status: 400)
    }

    /// RFC 6901: `~1` is a slash, `~0` a tilde.
    private static func unescaped(_ part: Substring) -> String {
        var text = ""
        var rest = part[...]
        while let character = rest.popFirst() {
            switch (character, rest.first) {
            case ("~", "0"):
                text.append("~")
                rest.removeFirst()
            case ("~", "1"):
                text.append("/")
                rest.removeFirst()
            default: text.append(character)
            }
        }
        return text
    }

    // MARK: Values

    /// The value as given; several clients send null for none.
    func required() throws(PushError) -> JSON {
        guard let value = operation.value, !value.isNull else { throw refusal("the value is missing") }
        return value
    }

    /// The value, or what is inside where a client sends JSON as text.
    func value() throws(PushError) -> JSON { try required().unquoted }

    func text() throws(PushError) -> String {
        guard let text = try required().string else { throw refusal("the value must be a string") }
        return text
    }

    /// Nil to remove.
    func optionalText() throws(PushError) -> String? { kind == .remove ? nil : try text() }

    func tags(in value: JSON) throws(PushError) -> [Tag] {
        let texts: [String]
        switch value.unquoted {
        case .string(let text): texts = [text]
        case .array(let items):
            texts = items.compactMap(\.string)
            guard texts.count == items.count else { throw refusal("tags must be strings") }
        default: throw refusal("tags must be a string or an array of strings")
        }
        do {
            return try texts.map { text throws(TagError) in try Tag(text) }
        } catch {
            throw PushError(error)
        }
    }

    /// A list of tags after this step. `element` is a tag itself, not its place; adding to `-` appends.
    func changing(_ tags: [Tag], element: String?) throws(PushError) -> [Tag] {
        guard let element else {
            switch kind {
            case .remove: return []
            case .replace: return try self.tags(in: required()).uniqued()
            case .add: return (tags + (try self.tags(in: required()))).uniqued()
            }
        }
        if kind == .add {
            let added = try self.tags(in: element == "-" ? required() : .string(element))
            return (tags + added).uniqued()
        }
        guard let tag = Tag(validating: element), let place = tags.firstIndex(of: tag) else {
            throw refusal("there is no such tag")
        }
        var changed = tags
        changed.remove(at: place)
        if kind == .replace { changed.insert(contentsOf: try self.tags(in: required()), at: place) }
        return changed.uniqued()
    }
}

extension JSON {
    /// Several clients send JSON inside a string; this looks inside.
    fileprivate var unquoted: JSON {
        guard case .string(let text) = self, let first = text.first, first == "{" || first == "[",
            let inner = try? JSON(parsing: text)
        else { return self }
        return inner
    }

    fileprivate var plainText: String { string ?? text() }
}

extension JSONObject {
    fileprivate var headers: [PushHeader] { members.map { PushHeader($0.key, $0.value.plainText) } }
}
