package import PushModel

/// Typed access to the members of a lab's JSON object. An error names the member that is missing or has the wrong type.
package struct LabFields: Sendable {
    private let members: JSONObject
    private let place: String
    private let code: String
    private let status: Int?

    private init(_ json: JSON?, place: String, code: String, status: Int?) throws(PushError) {
        (self.place, self.code, self.status) = (place, code, status)
        guard let members = json?.object else {
            throw PushError(code, "\(place) is not a JSON object", hint: "send a JSON object", status: status)
        }
        self.members = members
    }

    /// Members of a request, which may have no others. Throws `request.body` (400).
    package init(body: JSON?, allowing names: [String]) throws(PushError) {
        try self.init(body, place: "the body", code: "request.body", status: 400)
        if let stranger = members.keys.first(where: { !names.contains($0) }) {
            throw PushError(
                code, "the body has no member \"\(stranger.prefix(40))\"",
                hint: nearest(stranger, in: names).map { "did you mean \($0)?" } ?? "its members are \(names.joined(separator: ", "))",
                status: 400)
        }
    }

    /// Members of a response, which may have others from a newer server. Throws `lab.answer`.
    package init(answer: JSON?) throws(PushError) {
        try self.init(answer, place: "the lab's answer", code: "lab.answer", status: nil)
    }

    package func text(_ name: String) throws(PushError) -> String {
        guard let text = try optionalText(name) else { throw missing(name) }
        return text
    }

    package func optionalText(_ name: String) throws(PushError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw wrong(name, "a string") }
        return text
    }

    package func integer(_ name: String) throws(PushError) -> Int {
        guard let number = try optionalInteger(name) else { throw missing(name) }
        return number
    }

    package func optionalInteger(_ name: String) throws(PushError) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.int else { throw wrong(name, "an integer") }
        return number
    }

    package func optionalNumber(_ name: String) throws(PushError) -> Double? {
        guard let value = value(name) else { return nil }
        guard let number = value.double else { throw wrong(name, "a number") }
        return number
    }

    /// A Boolean; false if absent.
    package func flag(_ name: String) throws(PushError) -> Bool {
        guard let value = value(name) else { return false }
        guard let flag = value.bool else { throw wrong(name, "true or false") }
        return flag
    }

    package func object(_ name: String) throws(PushError) -> JSONObject {
        guard let object = value(name)?.object else { throw wrong(name, "an object") }
        return object
    }

    package func list(_ name: String) throws(PushError) -> [JSON] {
        guard let list = value(name)?.array else { throw wrong(name, "a list") }
        return list
    }

    /// The member's value; nil if absent or null.
    package func value(_ name: String) -> JSON? { members[name].flatMap { $0.isNull ? nil : $0 } }

    package func wrong(_ name: String, _ kind: String) -> PushError {
        PushError(code, "\(place): \(name) is not \(kind)", hint: "use \(kind)", status: status)
    }

    private func missing(_ name: String) -> PushError {
        PushError(code, "\(place) lacks \(name)", hint: "add \(name)", status: status)
    }
}

extension JSON {
    /// An object without the members that are nil.
    package static func lab(_ pairs: KeyValuePairs<String, JSON?>) -> JSON {
        .object(JSONObject(pairs.compactMap { name, value in value.map { (name, $0) } }))
    }

    package static func timestamp(_ time: Timestamp) -> JSON { .integer(time.milliseconds) }

    package static func count(_ number: Int) -> JSON { .integer(Int64(number)) }
}
