import HTTPTypes
import HubWire
import PushModel

/// The OpenAPI 3.1 description of the JSON API, generated from its routes.
struct OpenAPIDocument {
    let json: JSON

    /// Error responses of any route, by status.
    private static let refusals: KeyValuePairs<Int, String> = [
        400: "A parameter or the body is invalid", 401: "The token is missing, invalid or expired, or lacks the right Manage",
        403: "The token lacks the right Send", 404: "The object does not exist", 405: "The path does not support this method",
        408: "The body did not arrive in time", 409: "The request conflicts with the current state", 413: "The body is too large",
        422: "The request cannot be executed as given", 429: "Too many requests with this key; Retry-After gives the wait",
        500: "The server failed",
        503: "Storage or capacity is not available now; Retry-After gives the wait",
    ]
    /// Statuses that only routes that list them can have.
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
            var item = paths[route.operation.path]?.object ?? JSONObject()
            item[route.operation.method.rawValue.lowercased()] = Self.operation(route, &components)
            paths[route.operation.path] = .object(item)
        }
        paths[FlowOperation.path] = FlowOperation.document(&components)
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
                    "key": [
                        "type": "http", "scheme": "bearer",
                        "description": "The primary or secondary key of a rule itself. Send it only over HTTPS",
                    ],
                    "account": ["type": "http", "scheme": "basic", "description": "A user of the app backend"],
                ],
                "responses": .object(JSONObject(responses)), "schemas": .object(components),
            ],
        ]
    }

    private static func operation(_ route: ManagementRoute, _ components: inout JSONObject) -> JSON {
        var parameters: [JSON] = route.operation.placeholders.map { name in
            ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string", "minLength": 1]]
        }
        parameters += route.parameters.map { parameter in
            var schema = parameter.schema.document(&components)
            // A longer header section is rejected with 431 before parameters are read, so the limit need not be documented.
            if var members = schema.object, members["maxLength"] == .integer(Int64(JSONSchema.longest)) {
                members["maxLength"] = nil
                schema = .object(members)
            }
            return .members([
                "name": .string(parameter.name), "in": "query", "required": parameter.isRequired ? true : nil, "schema": schema,
            ])
        }
        var operation: JSONObject = [
            "operationId": .string(route.operation.name), "summary": .string(route.operation.summary),
            "description": .string(
                "Requires the right \(route.access.right.rawValue) of a key of the server"
                    + (route.access.scope == .hub ? " or of the hub." : ".")
            ),
        ]
        if route.access.acceptsKey { operation["security"] = [["key": []], ["sas": []]] }
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
            success["headers"] = ["Location": ["description": "The address of the new object", "schema": ["type": "string"]]]
        }
        var responses: JSONObject = [String(route.answer.status.code): .object(success)]
        for (status, _) in refusals where !special.contains(status) || route.refusals.contains(status) {
            responses[String(status)] = ["$ref": .string("#/components/responses/Problem\(status)")]
        }
        return .object(responses)
    }
}
