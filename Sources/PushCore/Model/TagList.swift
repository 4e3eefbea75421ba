extension Tag {
    /// A tag that a client gives to a device, from its text. Throws `tag.reserved` for a text that starts with `$`, `tag.invalid` for
    /// any other text that is not a tag.
    package init(ofDevice text: String) throws(PushError) {
        do {
            try self.init(text)
        } catch {
            throw PushError(ofDevice: error)
        }
        try checkIsNotReserved()
    }

    /// Whether only the hub gives this tag to devices: it starts with `$`. Compares bytes, because a combining mark behind the sign
    /// would hide it from a comparison of characters.
    package var isReserved: Bool { text.utf8.first == UInt8(ascii: "$") }

    /// Throws `tag.reserved`.
    package func checkIsNotReserved() throws(PushError) {
        if isReserved { throw PushError.reserved(text) }
    }

    /// The forms that the hub itself gives out, in lower case; a registration has at most one of each.
    static let reservedForms = ["$installationid", "$userid"]

    /// `$installationid` or `$userid` for a tag of that form, nil for any other.
    package var reservedForm: String? {
        guard text.utf8.first == UInt8(ascii: "$") else { return nil }
        let folded = text.lowercased()
        return Tag.reservedForms.first { folded.hasPrefix($0) }
    }

    /// Whether it is `$InstallationId:{…}` of the installation with this id.
    func isAddress(of installation: String) -> Bool {
        text == "$InstallationId:{\(installation)}" || Tag(validating: "$InstallationId:{\(installation)}") == self
    }

    /// The id in `$InstallationId:{id}`; nil for any other tag.
    package var installationID: String? {
        guard reservedForm == Self.reservedForms[0], let open = text.firstIndex(of: "{"), text.hasSuffix("}") else { return nil }
        return String(text[text.index(after: open)...].dropLast())
    }
}

extension PushError {
    /// `tag.reserved`: a client gives a device a tag that only the hub gives out. With such a tag a device would receive what is sent to
    /// another installation or to another user.
    static func reserved(_ text: String) -> PushError {
        PushError(
            "tag.reserved", "tags cannot start with $: \"\(text.prefix(Tag.maximumLength))\"",
            hint: "remove the tag: the hub itself gives $InstallationId:{…} to each installation and $UserId:{…} to one with a userId",
            status: 400, details: ["tag": .string(text)])
    }

    /// Why a text cannot be the tag of a device: `tag.reserved` where it starts with `$`, `tag.invalid` otherwise.
    package init(ofDevice error: TagError) {
        self = error.text.utf8.first == UInt8(ascii: "$") ? .reserved(error.text) : PushError(error)
    }
}

extension Array where Element == Tag {
    /// Tags from their texts. Those of a template may have its name among them even where that cannot be a tag: the hub shows it for
    /// a template without tags, and clients send back what they read.
    ///
    /// Throws `tag.invalid`, and `tag.reserved` for a text that starts with `$` and is not a tag. Reserved tags are refused by
    /// ``checked()``, through which the tags of every registration and installation pass.
    package init(_ texts: [String], ofTemplate name: String? = nil) throws(PushError) {
        self = []
        for text in texts {
            do {
                let tag = try Tag(text)
                if text != name || !tag.isReserved { append(tag) }
            } catch {
                guard text == name else { throw PushError(ofDevice: error) }
            }
        }
    }

    /// Most tags on one registration. Azure takes 60; a lint says so where the target is Azure.
    package static var maximumCount: Int { 1000 }

    /// The tags that a client gives to a device: each once, in order. The only way for tags into a hub: registrations, installations
    /// and their templates, imports, the app backend and hooks all come through here.
    ///
    /// Throws `tag.reserved` for a tag that starts with `$`, and `tag.too_many`.
    package func checked() throws(PushError) -> [Tag] {
        for tag in self { try tag.checkIsNotReserved() }
        let tags = uniqued()
        try tags.checkCount()
        return tags
    }

    /// With the tags that the hub gives to an installation. Throws `tag.too_many`.
    func adding(ofHub tags: [Tag]) throws(PushError) -> [Tag] {
        let all = (self + tags).uniqued()
        try all.checkCount()
        return all
    }

    /// The tags of a stored row without reserved ones. Older versions accepted these from clients; they must not address anything.
    package var withoutReserved: [Tag] { contains(where: \.isReserved) ? filter { !$0.isReserved } : self }

    /// Throws `tag.too_many`.
    func checkCount() throws(PushError) {
        guard count > Self.maximumCount else { return }
        throw PushError(
            "tag.too_many", "\(count) tags on one registration; the limit is 1,000", hint: "Azure takes 60", status: 400)
    }
}

extension Array where Element: Hashable {
    /// Without repetitions, in order of first appearance.
    package func uniqued() -> [Element] {
        var seen = Set<Element>()
        return filter { seen.insert($0).inserted }
    }
}
