import Synchronization

/// The current settings of a running server. Some of them can change while it runs.
final class LiveSettings: Sendable {
    private let settings: Mutex<ServerSettings>

    init(_ settings: ServerSettings) { self.settings = Mutex(settings) }

    var current: ServerSettings { settings.withLock { $0 } }

    func replace(by settings: ServerSettings) { self.settings.withLock { $0 = settings } }
}
