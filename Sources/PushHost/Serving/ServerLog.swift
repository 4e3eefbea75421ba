import Glibc
import Logging
import PushCore
import Synchronization

/// How the log of a server is written; it may change while the server runs.
final class LogStyle: Sendable {
    private let current: Mutex<(format: ServerSettings.LogFormat, level: Logger.Level)>

    init(_ settings: ServerSettings) { current = Mutex(Self.style(settings)) }

    var format: ServerSettings.LogFormat { current.withLock { $0.format } }
    var level: Logger.Level { current.withLock { $0.level } }

    func change(_ settings: ServerSettings) { current.withLock { $0 = Self.style(settings) } }

    private static func style(_ settings: ServerSettings) -> (ServerSettings.LogFormat, Logger.Level) {
        (settings.logFormat, Logger.Level(rawValue: settings.logLevel) ?? .info)
    }
}

/// The log of a server: one line for each event on standard error, as text or as JSON.
struct ServerLog: LogHandler {
    let style: LogStyle
    let clock: any HubClock
    let write: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    /// The least that whoever has this copy wants.
    private var ownLevel = Logger.Level.trace

    init(style: LogStyle, clock: any HubClock, write: @escaping @Sendable (String) -> Void) {
        (self.style, self.clock, self.write) = (style, clock, write)
    }

    var logLevel: Logger.Level {
        get { max(style.level, ownLevel) }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        write(Self.line(style.format, clock.now, event.level, event.message.description, facts))
    }

    /// One event as it is written, without the end of the line.
    static func line(
        _ format: ServerSettings.LogFormat, _ time: Timestamp, _ level: Logger.Level, _ text: String, _ facts: Logger.Metadata = [:]
    ) -> String {
        let all = facts.sorted { $0.key < $1.key }
        switch format {
        case .text:
            let facts = all.map { " \($0.key)=\($0.value.description.printable)" }.joined()
            return "\(time) \(level.rawValue.padded(to: 7)) \(text.printable)\(facts)"
        case .json:
            var members: [(key: String, value: JSON)] = [
                ("time", .string(time.description)), ("level", .string(level.rawValue)), ("message", .string(text)),
            ]
            members += all.map { ($0.key, .string($0.value.description)) }
            return JSON.object(JSONObject(members)).text()
        }
    }
}
