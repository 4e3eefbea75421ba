import Bindings
import PushCore

/// What a running server has made of a plugin that was listed with a version: commands that make one live end when it is so.
enum TakeOver: Sendable {
    /// No server uses the data folder.
    case none
    case live
    /// With what was wrong with it there.
    case refused(String)
    /// It has not said, in the time that a command waits.
    case pending
    /// The server has its plugins in this folder.
    case elsewhere(String)

    private static let patience = Duration.seconds(15)
    private static let pause = Duration.milliseconds(50)

    /// Waits for the server.
    static func settled(_ name: String, _ source: PluginSource, in folder: PluginFolder, _ settings: ServerSettings) async -> TakeOver {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            do throws(PushError) {
                guard let served = try await PluginOptions.served(settings, patience: end - .now) else { return .none }
                if let place = served["folder"]?.string, place != folder.place { return .elsewhere(place) }
                if let state = state(of: name, source, in: served, listed: folder.revision) { return state }
            } catch {
                return .pending
            }
            guard (try? await Task.sleep(for: pause)) != nil else { break }
        }
        return .pending
    }

    /// Nil while something is still to come of what is listed.
    private static func state(of name: String, _ source: PluginSource, in served: JSON, listed revision: String) -> TakeOver? {
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
        case .refused(let why): ["  the server has refused it: \(why)"]
        case .pending: ["  the server has not taken it over yet; pushhost plugin list shows what becomes of it"]
        case .elsewhere(let place): ["  the server has its plugins in \(place), and not here"]
        }
    }
}
