import Bindings
import PushCore

/// What a running server has made of a plugin that was listed with a version: commands that make one live end when it is so.
enum TakeOver: Sendable {
    /// No server uses the data folder, or none that answers.
    case none
    case live
    /// With what was wrong with it there.
    case refused(String)
    /// It has not said, in the time that a command waits.
    case pending

    private static let patience = Duration.seconds(15)
    private static let pause = Duration.milliseconds(50)

    /// Waits for the server.
    static func settled(_ name: String, _ source: PluginSource, _ settings: ServerSettings) async -> TakeOver {
        let end = ContinuousClock.now + patience
        while let served = try? await PluginOptions.served(settings) {
            let plugin = served["plugins"]?.array?.first { $0["name"]?.string == name }
            if plugin?["live"]?["version"]?.string == source.version { return .live }
            if let refused = plugin?["refused"], refused["version"]?.string == source.version {
                return .refused(refused["message"]?.string ?? "")
            }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: pause)) != nil else { return .pending }
        }
        return .none
    }

    var json: JSON {
        switch self {
        case .none: .null
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
        }
    }
}
