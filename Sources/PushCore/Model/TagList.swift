extension Tag {
    /// The forms that the hub itself gives out, in lower case; a registration has at most one of each.
    static let reservedForms = ["$installationid", "$userid"]

    /// `$installationid` or `$userid` for a tag of that form, nil for any other.
    package var reservedForm: String? {
        guard text.utf8.first == UInt8(ascii: "$") else { return nil }
        let folded = text.lowercased()
        return Tag.reservedForms.first { folded.hasPrefix($0) }
    }

    /// The id in `$InstallationId:{id}`; nil for any other tag.
    package var installationID: String? {
        guard reservedForm == Self.reservedForms[0], let open = text.firstIndex(of: "{"), text.hasSuffix("}") else { return nil }
        return String(text[text.index(after: open)...].dropLast())
    }
}

extension Array where Element == Tag {
    /// Tags from their texts. Those of a template may have its name among them even where that can be no tag: the hub shows it for
    /// a template without tags, and clients send back what they read.
    ///
    /// Throws `tag.invalid`.
    package init(_ texts: [String], ofTemplate name: String? = nil) throws(PushError) {
        self = []
        for text in texts {
            do {
                append(try Tag(text))
            } catch {
                guard text == name else { throw PushError(error) }
            }
        }
    }

    /// Most tags on one registration. Azure takes 60; a lint says so where the target is Azure.
    package static var maximumCount: Int { 1000 }

    /// Each tag once, in order. Throws `tag.too_many`, and `tag.reserved` for two of one form that the hub gives out.
    package func checked() throws(PushError) -> [Tag] {
        let tags = uniqued()
        try tags.checkCount()
        var forms: [String: Tag] = [:]
        for tag in tags {
            guard let form = tag.reservedForm else { continue }
            if let other = forms.updateValue(tag, forKey: form) {
                throw PushError(
                    "tag.reserved",
                    "\"\(other)\" and \"\(tag)\" on one registration: it stands for one device of one user",
                    hint: "keep one of them", status: 400)
            }
        }
        return tags
    }

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
