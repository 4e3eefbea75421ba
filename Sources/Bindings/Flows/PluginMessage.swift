package import Lua

/// A log message from or about a plugin.
package struct PluginMessage: Sendable, Equatable {
    package enum Level: String, Sendable { case info, warn, error }

    /// A change of the plugin's state.
    package enum Change: String, Sendable { case live, ended, refused }

    package var plugin: String
    package var version: String
    /// The call's run; nil if the message is not about a call.
    package var run: String?
    package var level: Level
    package var text: String
    package var location: SourceLocation?
    /// Nil if the state has not changed.
    package var change: Change?

    package init(
        plugin: String, version: String, run: String? = nil, level: Level, text: String, location: SourceLocation? = nil,
        change: Change? = nil
    ) {
        self.plugin = plugin
        self.version = version
        self.run = run
        self.level = level
        self.text = text
        self.location = location
        self.change = change
    }
}
