import PushModel

/// A stored hub event. Its details and origin are JSON.
struct EventRow {
    /// The columns that `init(_:)` reads.
    static let columns = "number, hub, kind, time, content"

    let event: HubEvent

    init(_ event: HubEvent) { self.event = event }

    init(_ row: some SQLRow) throws {
        event = try reading("the event \(row.integer(0))") {
            let json = try row.json(4)
            return HubEvent(
                number: row.integer(0), hub: row.text(1), kind: try HubEvent.Kind(stored: row.text(2)), time: row.time(3),
                origin: try json["origin"]?.storedArray().map { try $0.storedText() } ?? [],
                facts: try json.required("facts").storedObject())
        }
    }

    var content: JSON {
        var object: JSONObject = ["facts": .object(event.facts)]
        if !event.origin.isEmpty { object.append("origin", .array(event.origin.map(JSON.string))) }
        return .object(object)
    }
}
