/// One operation of an installation's PATCH (RFC 6902, as far as Azure supports it; "Patch an installation").
package struct PatchOperation: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case add, remove, replace }

    package var kind: Kind
    /// `/pushChannel`, `/tags`, `/tags/{tag}`, `/templates`, `/templates/{name}`, `/templates/{name}/body`, `/secondaryTiles/{id}/tags` …;
    /// the first segment in any case.
    package var path: String
    package var value: JSON?

    package init(_ kind: Kind, _ path: String, _ value: JSON? = nil) {
        self.kind = kind
        self.path = path
        self.value = value
    }
}

extension Installation {
    /// Applies every operation or none. Removing something absent succeeds, so that a repeated log-out does not fail.
    ///
    /// Throws `installation.patch` for an operation that does not apply; `tag.invalid` and `handle.invalid` for invalid values;
    /// `tag.too_many` and `installation.invalid` at the first operation that exceeds a limit.
    package mutating func apply(_ operations: [PatchOperation]) throws(PushError) {
        var changed = self
        var lists = DistinctLists<Tag>()
        for operation in operations {
            let step = try PatchStep(operation)
            try changed.apply(step, &lists)
            if step.kind != .remove { try changed.checkCounts() }
        }
        self = changed
    }

    private mutating func apply(_ step: PatchStep, _ lists: inout DistinctLists<Tag>) throws(PushError) {
        switch (step.path.first?.lowercased(), step.path.count) {
        case ("pushchannel", 1): try setChannel(step)
        case ("userid", 1): userID = try step.optionalText()
        case ("expirationtime", 1):
            guard let text = try step.optionalText() else {
                expiration = nil
                return
            }
            guard let time = Timestamp(iso8601: text) else {
                throw step.refusal("the value must be an ISO 8601 time")
            }
            // Clients send "never" back as they read it: the hub sets that expiration itself.
            expiration = time < .distantFuture ? time : nil
        case ("tags", 1...2): try step.change(&tags, element: step.path.dropFirst().first, &lists)
        case ("pushvariables", 1):
            guard step.kind != .remove else {
                pushVariables = [:]
                return
            }
            guard let object = try step.value().object else { throw step.refusal("the value must be an object") }
            pushVariables = Dictionary(uniqueKeysWithValues: object.members.map { ($0.key, $0.value.plainText) })
        case ("pushvariables", 2): pushVariables[step.path[1]] = step.kind == .remove ? nil : try step.required().plainText
        case ("templates", 1...4): try step.change(&templates, at: step.path.dropFirst(), &lists)
        case ("secondarytiles", 1...2):
            try step.change(&secondaryTiles, at: step.path.dropFirst(), &lists) { [platform = handle.platform] _, value throws(PushError) in
                try SecondaryTile(step, value, platform: platform)
            }
        case ("secondarytiles", 3...6):
            guard secondaryTiles[step.path[1]] != nil || step.kind == .remove else { throw step.refusal("there is no such tile") }
            try secondaryTiles[step.path[1]]?.apply(step, at: step.path.dropFirst(2), &lists)
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

extension SecondaryTile {
    /// - Parameter platform: of the installation.
    fileprivate init(_ step: PatchStep, _ value: JSON, platform: Platform) throws(PushError) {
        guard let object = value.object, let channel = object["pushChannel"]?.string else {
            throw step.refusal("a tile is an object with a pushChannel")
        }
        self.init(handle: try DeviceHandle(platform: platform, text: channel))
        if let tags = object["tags"], !tags.isNull { self.tags = try step.tags(in: tags).uniqued() }
        guard let templates = object["templates"], !templates.isNull else { return }
        guard let members = templates.object?.members else { throw step.refusal("templates must be an object") }
        for (name, value) in members { self.templates[name] = try InstallationTemplate(step, value, named: name) }
    }

    fileprivate mutating func apply(
        _ step: PatchStep, at path: ArraySlice<String>, _ lists: inout DistinctLists<Tag>
    ) throws(PushError) {
        switch (path.first, path.count) {
        case ("pushChannel", 1):
            guard step.kind != .remove else { throw step.refusal("a tile always has a channel") }
            let changed = try DeviceHandle(platform: handle.platform, text: step.text())
            if changed != handle { isPushChannelExpired = false }
            handle = changed
        case ("tags", 1...2): try step.change(&tags, element: path.dropFirst().first, &lists)
        case ("templates", 1...4): try step.change(&templates, at: path.dropFirst(), &lists)
        default: throw step.refusal("no such path")
        }
    }
}

extension InstallationTemplate {
    fileprivate init(_ step: PatchStep, _ value: JSON, named name: String) throws(PushError) {
        guard let object = value.object, let body = (object["body"] ?? object["bodyTemplate"])?.document else {
            throw step.refusal("a template is an object with a body")
        }
        self.init(body: body)
        if let headers = object["headers"], !headers.isNull {
            guard let object = headers.object else { throw step.refusal("headers must be an object") }
            self.headers = object.headers
        }
        expiry = object["expiry"].flatMap { $0.isNull ? nil : $0.plainText }
        if let tags = object["tags"], !tags.isNull { self.tags = try step.tags(in: tags, template: name) }
    }

    fileprivate mutating func apply(
        _ step: PatchStep, named name: String, member: String, element: String?, _ lists: inout DistinctLists<Tag>
    ) throws(PushError) {
        switch (member, element) {
        case ("body", nil):
            guard step.kind != .remove else { throw step.refusal("a template always has a body") }
            guard let text = try step.required().document else { throw step.refusal("the value must be a string or JSON") }
            body = text
        case ("expiry", nil): expiry = try step.optionalText()
        case ("headers", nil):
            guard step.kind != .remove else {
                headers = []
                return
            }
            guard let object = try step.value().object else { throw step.refusal("headers must be an object") }
            headers = object.headers
        case ("tags", _):
            var list = tags ?? []
            // Hold the only reference while the list changes, so that it is not copied.
            tags = nil
            try step.change(&list, element: element, template: name, &lists)
            tags = list
        default: throw step.refusal("a template has body, headers, expiry and tags")
        }
    }
}

/// An operation with its path split into segments.
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

    /// The path with its first segment in lower case.
    var normalizedPath: [String] { path.prefix(1).map { $0.lowercased() } + path.dropFirst() }

    func refusal(_ why: String) -> PushError {
        PushError(
            "installation.patch", "\(kind.rawValue) \(operation.path): \(why)",
            hint: "paths are /pushChannel, /userId, /expirationTime, /tags[/{tag}], "
                + "/templates[/{name}[/body|headers|expiry|tags]], /pushVariables[/{name}], "
                + "/secondaryTiles[/{id}[/pushChannel|tags|templates]]",
            status: 400)
    }

    /// Decodes a path segment: `~1` is a slash, `~0` a tilde (RFC 6901).
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

    /// The value as given. Null counts as missing, because several clients send it for no value.
    func required() throws(PushError) -> JSON {
        guard let value = operation.value, !value.isNull else { throw refusal("the value is missing") }
        return value
    }

    /// The value, or the JSON inside a string value.
    func value() throws(PushError) -> JSON { try required().unquoted }

    func text() throws(PushError) -> String {
        guard let text = try required().string else { throw refusal("the value must be a string") }
        return text
    }

    /// Nil to remove: for a remove operation, and for a null, empty or missing value.
    func optionalText() throws(PushError) -> String? {
        guard kind != .remove, let value = operation.value, !value.isNull, value != "" else { return nil }
        return try text()
    }

    /// - Parameter template: the name of the template that the tags belong to, if any.
    func tags(in value: JSON, template: String? = nil) throws(PushError) -> [Tag] {
        let texts: [String]
        switch value.unquoted {
        case .string(let text): texts = [text]
        case .array(let items):
            texts = items.compactMap(\.string)
            guard texts.count == items.count else { throw refusal("tags must be strings") }
        default: throw refusal("tags must be a string or an array of strings")
        }
        return try [Tag](texts, ofTemplate: template)
    }

    /// Changes a whole map or one of its members: without a name in `path` the whole map, to which `add` adds members.
    /// - Parameter read: makes a member from its name and value.
    func change<Member>(
        _ map: inout [String: Member], at path: ArraySlice<String>, _ lists: inout DistinctLists<Tag>,
        _ read: (String, JSON) throws(PushError) -> Member
    ) throws(PushError) {
        if let name = path.first {
            lists.forget(within: normalizedPath)
            map[name] = kind == .remove ? nil : try read(name, value())
            return
        }
        if kind != .add {
            map = [:]
            lists.forget(within: normalizedPath)
        }
        guard kind != .remove else { return }
        guard let members = try value().object?.members else { throw refusal("the value must be an object") }
        lists.forget(within: normalizedPath, names: Set(members.map(\.key)))
        for (name, value) in members where !value.isNull { map[name] = try read(name, value) }
    }

    /// Changes all templates, one template or one of its members. `path` is the template's name and the path inside the template.
    func change(
        _ templates: inout [String: InstallationTemplate], at path: ArraySlice<String>, _ lists: inout DistinctLists<Tag>
    ) throws(PushError) {
        guard path.count > 1, let name = path.first else {
            return try change(&templates, at: path, &lists) { name, value throws(PushError) in
                try InstallationTemplate(self, value, named: name)
            }
        }
        let inside = Array(path.dropFirst())
        guard templates[name] != nil || kind == .remove else { throw refusal("there is no such template") }
        try templates[name]?.apply(self, named: name, member: inside[0], element: inside.count > 1 ? inside[1] : nil, &lists)
    }

    /// Changes a list of tags. `element` is a tag, as in Azure. Adding to `-` appends; adding a value to an index inserts it there (RFC
    /// 6902, section 4.1).
    ///
    /// Rejects what could mean a tag other than the client intended: a value that differs from the tag in the path, and an index that is
    /// not also a tag of the list.
    /// - Parameter template: the name of the template that the tags belong to, if any.
    func change(
        _ tags: inout [Tag], element: String?, template: String? = nil, _ lists: inout DistinctLists<Tag>
    ) throws(PushError) {
        switch (kind, element) {
        case (.remove, nil):
            tags = []
            lists.forget(within: normalizedPath)
        case (.replace, nil):
            tags = try self.tags(in: required(), template: template).uniqued()
            lists.forget(within: normalizedPath)
        case (.add, nil), (.add, "-"):
            lists.append(
                try self.tags(in: required(), template: template), to: &tags,
                at: element == nil ? normalizedPath : Array(normalizedPath.dropLast()))
        case (.add, let element?):
            let list = Array(normalizedPath.dropLast())
            guard let value = operation.value, !value.isNull, value != "" else {
                lists.append(try self.tags(in: .string(element), template: template), to: &tags, at: list)
                break
            }
            let added = try self.tags(in: value, template: template)
            if added == Tag(validating: element).map({ [$0] }) {
                lists.append(added, to: &tags, at: list)
            } else {
                lists.insert(added, into: &tags, at: list, before: try index(element, in: tags))
            }
        case (.remove, let element?), (.replace, let element?):
            let added = kind == .replace ? try self.tags(in: required(), template: template) : []
            let tag = Tag(validating: element)
            if tag.map(tags.contains) != true { try checkIsNotIndex(element, in: tags) }
            lists.replace(tag, with: added, in: &tags, at: Array(normalizedPath.dropLast()))
        }
        try tags.checkCount()
    }
}

extension PatchStep {
    /// The array index in a path segment (RFC 6901, section 4); nil for any other segment.
    private static func index(_ element: String) -> Int? {
        guard element == "0" || element.utf8.first != UInt8(ascii: "0"), element.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        // Too many digits for an Int: beyond the end of any list.
        return element.isEmpty ? nil : Int(element) ?? .max
    }

    /// The index at which a value is inserted.
    fileprivate func index(_ element: String, in tags: [Tag]) throws(PushError) -> Int {
        guard let index = Self.index(element) else { throw refusal("the value is not the tag of the path") }
        guard index <= tags.count else { throw refusal("the index \(index) is out of range: the list has \(tags.count) tags") }
        return index
    }

    /// Throws if `element` is an array index. Removing an absent tag succeeds, so that a log-out can be repeated, but a client that means
    /// an index must not believe that its element was removed.
    /// - Parameter element: not a tag of the list.
    fileprivate func checkIsNotIndex(_ element: String, in tags: [Tag]) throws(PushError) {
        let isMeant = Self.index(element).map { $0 < tags.count || kind == .replace } ?? (element == "-")
        guard isMeant else { return }
        throw refusal("the list has no tag \"\(element)\"; write the tag itself, not its index")
    }
}

extension JSON {
    /// A string's text, or the JSON of an object or array.
    fileprivate var document: String? { object != nil || array != nil ? text() : string }

    /// The JSON inside a string, as several clients send it; other values unchanged.
    fileprivate var unquoted: JSON {
        guard case .string(let text) = self, let first = text.first, first == "{" || first == "[",
            let inner = try? JSON(parsing: text, numbers: .asWritten)
        else { return self }
        return inner
    }
}

extension JSONObject {
    fileprivate var headers: [PushHeader] { members.map { PushHeader($0.key, $0.value.plainText) } }
}
