import HTTPTypes
import HubWire
import PushCore

/// The description of the JSON interface for programs (OpenAPI 3.1), written from the table of its routes.
struct OpenAPIDocument {
    let json: JSON

    /// What any route may answer, by status.
    private static let refusals: KeyValuePairs<Int, String> = [
        400: "A parameter or the body is not what it must be", 401: "The token is missing, wrong, expired, or lacks the right to manage",
        403: "The token lacks the right to send", 404: "There is no such thing", 405: "The path does not take this method",
        408: "The body took too long", 409: "It clashes with what there is", 413: "The body is too large",
        422: "It cannot be done as it is asked", 429: "Too many requests with this key; Retry-After says when to come back",
        500: "The server failed",
        503: "Nothing can be kept just now; Retry-After says when to come back",
    ]
    /// Of these each route has those that it lists itself.
    private static let special: Set<Int> = [403, 409, 422]

    private static let about =
        "Hubs, keys, devices, tags and notifications of a PushHost server. A hub's name is one part of a path: a slash in it is written "
        + "%2F."
    private static let token =
        "A shared access signature as for the hub's own interface: SharedAccessSignature sr=RESOURCE&sig=SIGNATURE&se=EXPIRY&skn=RULE. "
        + "RESOURCE is an address of the server or of the hub, encoded; EXPIRY is in seconds since 1970; SIGNATURE is the base64, encoded, "
        + "of the HMAC-SHA256 over RESOURCE, a line feed and EXPIRY with the key of RULE."

    init(routes: [ManagementRoute]) {
        var components = JSONObject()
        var paths = JSONObject()
        for route in routes {
            var item = paths[route.path]?.object ?? JSONObject()
            item[route.method.rawValue.lowercased()] = Self.operation(route, &components)
            paths[route.path] = .object(item)
        }
        paths[FlowInterface.documentedPath] = FlowInterface.operation(&components)
        let problem = ProblemDocument.schema.document(&components)
        let responses = Self.refusals.map { status, note in
            ("Problem\(status)", ["description": .string(note), "content": [ProblemDocument.contentType: ["schema": problem]]] as JSON)
        }
        json = [
            "openapi": "3.1.1",
            "info": [
                "title": "PushHost", "version": "1",
                "description": .string(Self.about),
            ],
            "servers": [["url": "/"]], "security": [["sas": []]], "paths": .object(paths),
            "components": [
                "securitySchemes": [
                    "sas": [
                        "type": "apiKey", "in": "header", "name": "Authorization",
                        "description": .string(Self.token),
                    ],
                    "account": ["type": "http", "scheme": "basic", "description": "A user of the app backend"],
                ],
                "responses": .object(JSONObject(responses)), "schemas": .object(components),
            ],
        ]
    }

    private static func operation(_ route: ManagementRoute, _ components: inout JSONObject) -> JSON {
        var parameters: [JSON] = route.pathNames.map { name in
            ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string", "minLength": 1]]
        }
        parameters += route.parameters.map { parameter in
            var schema = parameter.schema.document(&components)
            // A head that has as much as a body may have is refused before its parameters are read (431).
            if var members = schema.object, members["maxLength"] == .integer(Int64(JSONSchema.longest)) {
                members["maxLength"] = nil
                schema = .object(members)
            }
            return .members([
                "name": .string(parameter.name), "in": "query", "required": parameter.isRequired ? true : nil, "schema": schema,
            ])
        }
        var operation: JSONObject = [
            "operationId": .string(route.name), "summary": .string(route.summary),
            "description": .string(
                "Needs the right \(route.right.rawValue), by a key of the server\(route.scope == .hub ? " or of the hub" : "")."),
        ]
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let body = route.body {
            operation["requestBody"] = ["required": true, "content": ["application/json": ["schema": body.document(&components)]]]
        }
        operation["responses"] = responses(of: route, &components)
        return .object(operation)
    }

    private static func responses(of route: ManagementRoute, _ components: inout JSONObject) -> JSON {
        var success: JSONObject = ["description": .string(route.answer.note)]
        if let schema = route.answer.schema { success["content"] = ["application/json": ["schema": schema.document(&components)]] }
        if route.answer.status == .created {
            success["headers"] = ["Location": ["description": "Where it is", "schema": ["type": "string"]]]
        }
        var responses: JSONObject = [String(route.answer.status.code): .object(success)]
        for (status, _) in refusals where !special.contains(status) || route.refusals.contains(status) {
            responses[String(status)] = ["$ref": .string("#/components/responses/Problem\(status)")]
        }
        return .object(responses)
    }
}
