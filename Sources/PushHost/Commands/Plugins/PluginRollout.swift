import Bindings
import PushLab
import PushModel
import PushServer

/// The reaction of a running server to a plugin version in the list. Commands that make a version live wait for this.
enum PluginRollout: Sendable {
    /// No server uses the data folder.
    case none
    case live
    /// The server rejected the version, with its error message.
    case refused(String)
    /// The server had not decided when the wait ended.
    case pending
    /// The server uses another plugins folder, this one.
    case elsewhere(String)

    private static let timeout = Duration.seconds(15)
    private static let pause = Duration.milliseconds(50)

    /// Waits until the server has decided, up to 15 seconds.
    static func settled(_ name: String, _ source: PluginSource, in folder: PluginFolder, _ settings: ServerSettings) async -> PluginRollout
    {
        let end = ContinuousClock.now + timeout
        while ContinuousClock.now < end {
            do throws(PushError) {
                guard let served = try await PluginOptions.served(settings, timeout: end - .now) else { return .none }
                if let path = served["folder"]?.string, path != folder.resolvedPath { return .elsewhere(path) }
                if let state = state(of: name, source, in: served, listed: PluginListFile(folder).revision) { return state }
            } catch {
                return .pending
            }
            guard (try? await Task.sleep(for: pause)) != nil else { break }
        }
        return .pending
    }

    /// Nil while the server has not processed the listed version.
    private static func state(of name: String, _ source: PluginSource, in served: JSON, listed revision: String) -> PluginRollout? {
        let plugin = served["plugins"]?.array?.first { $0["name"]?.string == name }
        guard served["revision"]?.string == revision, plugin?["pending"] == false else { return nil }
        if plugin?["live"]?["version"]?.string == source.version { return .live }
        guard let refused = plugin?["refused"], refused["version"]?.string == source.version else { return nil }
        return .refused(refused["message"]?.string ?? "")
    }

    var json: JSON {
        switch self {
        case .none, .elsewhere: .null
        case .live: "live"
        case .refused: "refused"
        case .pending: "pending"
        }
    }

    var lines: [String] {
        switch self {
        case .none, .live: []
        case .refused(let why): ["  the server rejected it: \(why)"]
        case .pending: ["  the server has not applied it yet; see its state with pushhost plugin list"]
        case .elsewhere(let path): ["  not applied: the server's plugins are in \(path)"]
        }
    }
}
