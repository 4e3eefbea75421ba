extension Tag {
    /// A tag that a client gives to a device. Throws `tag.reserved` for a text that starts with `$`, `tag.invalid` for any other text that
    /// is not a tag.
    package init(ofDevice text: String) throws(PushError) {
        do {
            try self.init(text)
        } catch {
            throw PushError(ofDevice: error)
        }
        try checkIsNotReserved()
    }

    /// Whether the tag starts with `$`, so that only the hub may give it to devices. Compares bytes, because a combining mark after the `$`
    /// would hide it from a comparison of characters.
    package var isReserved: Bool { text.utf8.first == UInt8(ascii: "$") }

    /// Throws `tag.reserved`.
    package func checkIsNotReserved() throws(PushError) {
        if isReserved { throw PushError.reserved(text) }
    }

    /// The forms of tags that the hub gives to devices, in lower case. A registration has at most one of each.
    static let reservedForms = ["$installationid", "$userid"]

    /// `$installationid` or `$userid` for a tag of that form; nil for any other.
    package var reservedForm: String? {
        guard text.utf8.first == UInt8(ascii: "$") else { return nil }
        let folded = text.lowercased()
        return Tag.reservedForms.first { folded.hasPrefix($0) }
    }

    /// Whether the tag is `$InstallationId:{…}` with this installation's id.
    package func isAddress(of installation: String) -> Bool {
        text == "$InstallationId:{\(installation)}" || Tag(validating: "$InstallationId:{\(installation)}") == self
    }

    /// The id in `$InstallationId:{id}`; nil for any other tag.
    package var installationID: String? {
        guard reservedForm == Self.reservedForms[0], let open = text.firstIndex(of: "{"), text.hasSuffix("}") else { return nil }
        return String(text[text.index(after: open)...].dropLast())
    }
}

extension PushError {
    /// `tag.reserved`: a client gave a device a tag that only the hub may give. The device would receive notifications for another
    /// installation or user.
    static func reserved(_ text: String) -> PushError {
        PushError(
            "tag.reserved", "tags cannot start with $: \"\(text.prefix(Tag.maximumLength))\"",
            hint: "remove the tag: the hub itself gives $InstallationId:{…} to each installation and $UserId:{…} to one with a userId",
            status: 400, details: ["tag": .string(text)])
    }

    /// The error for a text that cannot be a device's tag: `tag.reserved` if it starts with `$`, otherwise `tag.invalid`.
    package init(ofDevice error: TagError) {
        self = error.text.utf8.first == UInt8(ascii: "$") ? .reserved(error.text) : PushError(error)
    }
}

extension Array where Element == Tag {
    /// Tags from their texts. Those of a template may include its name even if that is not a valid tag: the hub shows the name for a
    /// template without tags, and clients send back what they read.
    ///
    /// Throws `tag.invalid`, and `tag.reserved` for a text that starts with `$` and is not a tag. ``checked()``, which all tags of
    /// registrations and installations pass, rejects reserved tags.
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

    /// Maximum number of tags per registration. Azure accepts 60; a lint warns about more if the target is Azure.
    package static var maximumCount: Int { 1000 }

    /// The tags that a client gives to a device: each once, in order. All tags enter a hub through here: those of registrations,
    /// installations and their templates, imports, the app backend and hooks.
    ///
    /// Throws `tag.reserved` for a tag that starts with `$`, and `tag.too_many`.
    package func checked() throws(PushError) -> [Tag] {
        for tag in self { try tag.checkIsNotReserved() }
        let tags = uniqued()
        try tags.checkCount()
        return tags
    }

    /// These tags and those that the hub gives to an installation. Throws `tag.too_many`.
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
            "tag.too_many", "\(count) tags on one registration; the limit is 1,000", hint: "remove some tags; Azure accepts 60",
            status: 400)
    }
}

extension Array where Element: Hashable {
    /// The elements without duplicates, in order of first appearance.
    package func uniqued() -> [Element] {
        var seen = Set<Element>()
        return filter { seen.insert($0).inserted }
    }
}
