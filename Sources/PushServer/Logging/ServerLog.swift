import Glibc
package import Logging
package import PushModel
import PushRuntime
import Synchronization

/// Format and level of the server's log, which can change while the server runs.
package final class LogStyle: Sendable {
    private let current: Mutex<(format: ServerSettings.LogFormat, level: Logger.Level)>

    package init(_ settings: ServerSettings) { current = Mutex(Self.style(settings)) }

    package var format: ServerSettings.LogFormat { current.withLock { $0.format } }
    var level: Logger.Level { current.withLock { $0.level } }

    func change(_ settings: ServerSettings) { current.withLock { $0 = Self.style(settings) } }

    private static func style(_ settings: ServerSettings) -> (ServerSettings.LogFormat, Logger.Level) {
        (settings.logFormat, Logger.Level(rawValue: settings.logLevel) ?? .info)
    }
}

/// Writes the log: one line per event on standard error, as text or as JSON.
package struct ServerLog: LogHandler {
    let style: LogStyle
    let clock: any HubClock
    let write: @Sendable (String) -> Void
    package var metadata: Logger.Metadata = [:]

    package init(style: LogStyle, clock: any HubClock, write: @escaping @Sendable (String) -> Void, metadata: Logger.Metadata = [:]) {
        self.style = style
        self.clock = clock
        self.write = write
        self.metadata = metadata
    }
    /// The minimum level set on this copy of the handler.
    private var ownLevel = Logger.Level.trace

    package init(style: LogStyle, clock: any HubClock, write: @escaping @Sendable (String) -> Void) {
        (self.style, self.clock, self.write) = (style, clock, write)
    }

    package var logLevel: Logger.Level {
        get { max(style.level, ownLevel) }
        set { ownLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        write(Self.line(style.format, clock.now, event.level, event.message.description, facts))
    }

    /// Formats one event, without a line end.
    package static func line(
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
