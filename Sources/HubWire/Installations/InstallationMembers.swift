import PushModel

/// The members of a JSON object in an installation. Names are case-insensitive, as in Azure.
struct InstallationMembers {
    private let object: JSONObject

    init?(_ json: JSON) {
        guard let object = json.object else { return nil }
        self.object = object
    }

    /// The member's value; nil if absent or null.
    subscript(name: String) -> JSON? {
        let value = object[name] ?? object.members.first { $0.key.lowercased() == name.lowercased() }?.value
        return value.flatMap { $0.isNull ? nil : $0 }
    }

    func text(_ name: String) throws(PushError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw InstallationJSONReader.refusal("\(name) is not a string", "send it as a string") }
        return text
    }

    /// The members of a nested object, without null ones.
    func members(_ name: String) throws(PushError) -> [(key: String, value: JSON)] {
        guard let value = self[name] else { return [] }
        guard let members = value.object?.members else {
            throw InstallationJSONReader.refusal("\(name) is not an object", "send a JSON object")
        }
        return members.filter { !$0.value.isNull }
    }

    /// The members of a nested object as strings. Other values are converted to their JSON text.
    func strings(_ name: String) throws(PushError) -> [String: String] {
        let members = try members(name)
        return Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.plainText) })
    }

    /// - Parameter name: The template to which the tags belong.
    func tags(ofTemplate name: String? = nil) throws(PushError) -> [Tag]? {
        guard let value = self["tags"] else { return nil }
        guard let items = value.array else { throw InstallationJSONReader.refusal("tags is not an array", "send a list of strings") }
        let texts = items.compactMap(\.string)
        guard texts.count == items.count else { throw InstallationJSONReader.refusal("a tag is not a string", "send a list of strings") }
        return try [Tag](texts, ofTemplate: name)
    }

    /// The template's body. One page of Azure's documentation calls it `bodyTemplate`.
    private func body() throws(PushError) -> String? {
        if let body = try text("body") { return body }
        return try text("bodyTemplate")
    }

    func templates() throws(PushError) -> [String: InstallationTemplate] {
        var templates: [String: InstallationTemplate] = [:]
        for (name, value) in try members("templates") {
            guard let template = InstallationMembers(value), let body = try template.body() else {
                throw InstallationJSONReader.refusal("the template \(name) has no body", "send an object with a body")
            }
            var headers: [PushHeader] = []
            for (name, value) in try template.members("headers") { headers.append(PushHeader(name, value.plainText)) }
            let expiry = template["expiry"]?.plainText
            templates[name] = InstallationTemplate(
                body: body, headers: headers, expiry: expiry?.nonEmpty, tags: try template.tags(ofTemplate: name))
        }
        return templates
    }
}
