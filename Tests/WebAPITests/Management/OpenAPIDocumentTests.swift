import HTTPTypes
import PushModel
import Testing

@testable import WebAPI

@Suite struct OpenAPIDocumentTests {
    private static let document = OpenAPIDocument(routes: ManagementRoute.all).json

    /// Every value of a member with this name, at any depth.
    private static func values(_ name: String, in json: JSON) -> [JSON] {
        switch json {
        case .object(let object): object.members.flatMap { ($0.key == name ? [$0.value] : []) + values(name, in: $0.value) }
        case .array(let items): items.flatMap { values(name, in: $0) }
        default: []
        }
    }

    @Test func `Every reference has a target, and every pattern can be compiled`() throws {
        let references = Set(Self.values("$ref", in: Self.document).compactMap(\.string))
        #expect(references.count > 20)
        for reference in references {
            let target = reference.split(separator: "/").dropFirst().reduce(Self.document as JSON?) { $0?[String($1)] }
            #expect(target?.object?.isEmpty == false, "\(reference)")
        }
        let patterns = Set(Self.values("pattern", in: Self.document).compactMap(\.string))
        #expect(patterns.count > 6)
        for pattern in patterns { #expect(throws: Never.self) { try Regex(pattern) } }
    }

    @Test func `Every route is in it under a unique name, with its requirements and answers`() throws {
        #expect(Set(ManagementRoute.all.map(\.operation.name)).count == ManagementRoute.all.count)
        for route in ManagementRoute.all {
            let operation = try #require(Self.document["paths"]?[route.operation.path]?[route.operation.method.rawValue.lowercased()])
            #expect(operation["operationId"]?.string == route.operation.name)
            #expect((operation["requestBody"] != nil) == (route.body != nil))
            let names = operation["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
            #expect(names == route.operation.placeholders + route.parameters.map(\.name))
            let answers = try #require(operation["responses"]?.object)
            #expect(answers[String(route.answer.status.code)] != nil && answers["401"] != nil)
        }
    }

    @Test func `An internal error does not reveal its text`() {
        let error = PushError("storage.corrupt", "row 7 holds a secret", hint: "of the hub")
        let json = ProblemDocument(error: error, trackingID: "t").json
        #expect(!json.text().contains("secret") && json["status"] == 500 && json["title"] == "Internal Server Error")
        #expect(throws: Never.self) { try ProblemDocument.schema.check(json, "problem") }
    }
}
