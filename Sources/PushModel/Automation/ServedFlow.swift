/// A configured flow of a server: its script, its triggers, and how its runs overlap.
package struct ServedFlow: Sendable, Equatable {
    package var name: String
    /// Path of the script.
    package var script: String
    /// The hub that the flow works with; nil: the hub of the trigger, or the server's default hub.
    package var hub: String?
    /// Configured arguments. Arguments of the trigger override them.
    package var arguments: JSONObject
    package var triggers: FlowTriggers
    package var policy: RunPolicy

    package init(
        name: String, script: String, hub: String? = nil, arguments: JSONObject = JSONObject(), triggers: FlowTriggers = FlowTriggers(),
        policy: RunPolicy = RunPolicy()
    ) {
        self.name = name
        self.script = script
        self.hub = hub
        self.arguments = arguments
        self.triggers = triggers
        self.policy = policy
    }

    /// Whether a name is valid: 1 to 60 letters, digits, `-` and `_`, starting with a letter or digit.
    package static func isName(_ text: String) -> Bool {
        guard (1...60).contains(text.utf8.count), let first = text.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "_") else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
