import FoundationEssentials
import HTTPTypes

/// An answer in a form that is convenient for tests.
struct Reply {
    var status: Int
    var fields: HTTPFields
    var body: [UInt8]

    init(_ answer: (response: HTTPResponse, body: [UInt8])) {
        status = answer.response.status.code
        fields = answer.response.headerFields
        body = answer.body
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(name: String) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }

    /// A member of the JSON body.
    func member(_ name: String) -> String? {
        (try? JSONDecoder().decode([String: Scalar].self, from: Data(body)))?[name]?.text
    }

    private struct Scalar: Decodable {
        var text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self.text = text
            } else if let number = try? container.decode(Int64.self) {
                text = String(number)
            } else {
                text = "…"
            }
        }
    }
}

extension HTTPRequest {
    /// A request with these fields, in order.
    init(_ method: Method = .post, host: String, path: String, _ fields: [(String, String)]) {
        self.init(method: method, scheme: "https", authority: host, path: path)
        for (name, value) in fields { add(name, value) }
    }

    mutating func add(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { headerFields.append(HTTPField(name: name, value: value)) }
    }

    mutating func set(_ name: String, _ value: String?) {
        if let name = HTTPField.Name(name) { headerFields[name] = value }
    }
}
