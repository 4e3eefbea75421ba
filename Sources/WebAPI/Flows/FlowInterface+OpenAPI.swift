import PushCore

// What starts flows is no route of the JSON interface: each flow says who may. Programs find it in the same document.
extension FlowInterface {
    static let documentedPath = "/flows/{flow}"

    static func operation(_ components: inout JSONObject) -> JSON {
        let run = RunRecord.schema.document(&components)
        func parameter(_ name: String, _ note: String) -> JSON {
            ["name": .string(name), "in": "header", "description": .string(note), "schema": ["type": "string"]]
        }
        func answer(_ note: String) -> JSON {
            [
                "description": .string(note), "content": ["application/json": ["schema": run]],
                "headers": ["Run-Id": ["description": "The run's id, also where it failed", "schema": ["type": "string"]]],
            ]
        }
        var responses: JSONObject = [
            "200": answer("It has run to its end"),
            "202": answer("It goes on: Location says where to look"),
        ]
        for status in [400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503] {
            responses[String(status)] = ["$ref": .string("#/components/responses/Problem\(status)")]
        }
        return [
            "post": [
                "operationId": "startFlow", "summary": "Start a flow, and wait for its end",
                "description":
                    "The body has the arguments of the flow by name; GET /api/v1/flows/{flow} has their schema. Who may, the settings of the flow say: a key, a user of the app backend, or anybody.",
                "parameters": [
                    [
                        "name": "flow", "in": "path", "required": true,
                        "schema": ["type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"],
                    ],
                    parameter("Idempotency-Key", "The same key with the same body starts one run"),
                    parameter("Prefer", "respond-async, or wait=SECONDS; 60 seconds if absent"),
                ],
                "requestBody": ["required": false, "content": ["application/json": ["schema": ["type": "object"]]]],
                "responses": .object(responses), "security": [["sas": []], ["account": []], JSON.object(JSONObject())],
            ]
        ]
    }
}
