package import PushModel
import Synchronization

/// A step of a lab's hubs, or an exchange with a push service.
package enum LabTraceEntry: Sendable, Equatable {
    case core(CoreEvent)
    case crossed(WireExchange)

    package var json: JSON {
        switch self {
        case .core(let event): ["time": .timestamp(event.time), "area": .string(event.area.rawValue), "text": .string(event.text)]
        case .crossed(let exchange): exchange.json
        }
    }

    init(_ json: JSON) throws(PushError) {
        let fields = try LabFields(answer: json)
        guard let word = try fields.optionalText("area") else {
            self = .crossed(try WireExchange(json))
            return
        }
        // A newer server may use areas that are unknown here.
        self = .core(
            CoreEvent(
                time: Timestamp(milliseconds: Int64(try fields.integer("time"))), area: CoreEvent.Area(rawValue: word) ?? .hub,
                text: try fields.text("text")))
    }
}

/// Fetches what a lab's hubs do and passes it on in order.
final class RemoteTrace: Sendable {
    private let path: String
    private let connection: any LabConnection
    private let take: @Sendable (LabTraceEntry) -> Void
    private let known = Mutex(0)

    init(path: String, connection: any LabConnection, take: @escaping @Sendable (LabTraceEntry) -> Void) {
        (self.path, self.connection, self.take) = (path, connection, take)
    }

    /// Fetches new entries. Errors are ignored: a run does not fail because its trace is missing.
    func catchUp() async {
        let since = known.withLock { $0 }
        guard let answer = try? await connection.call("GET", "\(path)/trace?since=\(since)", nil),
            let fields = try? LabFields(answer: answer), let count = try? fields.integer("count"), let list = try? fields.list("entries")
        else { return }
        // Skip entries that a concurrent fetch has already handled.
        known.withLock { known in
            for json in list.suffix(max(0, count - known)) {
                if let entry = try? LabTraceEntry(json) { take(entry) }
            }
            known = max(known, count)
        }
    }
}
