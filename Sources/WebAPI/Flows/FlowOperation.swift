import PushModel

/// The OpenAPI description of starting flows. This is not a route of the JSON API, because each flow defines who may start it.
enum FlowOperation {
    static let path = "/flows/{flow}"

    static func document(_ components: inout JSONObject) -> JSON {
        let run = RunRecordJSON.schema.document(&components)
        func parameter(_ name: String, _ note: String) -> JSON {
            ["name": .string(name), "in": "header", "description": .string(note), "schema": ["type": "string"]]
        }
        func answer(_ note: String) -> JSON {
            [
                "description": .string(note), "content": ["application/json": ["schema": run]],
                "headers": ["Run-Id": ["description": "The run's id, also after a failure", "schema": ["type": "string"]]],
            ]
        }
        var responses: JSONObject = [
            "200": answer("The run has completed"),
            "202": answer("The run continues; Location is its address"),
        ]
        for status in [400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503] {
            responses[String(status)] = ["$ref": .string("#/components/responses/Problem\(status)")]
        }
        return [
            "post": [
                "operationId": "startFlow", "summary": "Start a flow and wait for its end",
                "description":
                    "The body has the flow's arguments by name; GET /api/v1/flows/{flow} has their schema. The flow's settings define who may start it: a key, a user of the app backend, or everyone.",
                "parameters": [
                    [
                        "name": "flow", "in": "path", "required": true,
                        "schema": ["type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"],
                    ],
                    parameter("Idempotency-Key", "The same key with the same body from the same caller starts one run"),
                    parameter("Prefer", "respond-async, or wait=SECONDS; 60 seconds if absent"),
                ],
                "requestBody": ["required": false, "content": ["application/json": ["schema": ["type": "object"]]]],
                "responses": .object(responses), "security": [["sas": []], ["account": []], JSON.object(JSONObject())],
            ]
        ]
    }
}
