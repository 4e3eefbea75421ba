import HTTPTypes
import HubWire
package import PushModel

/// Routes for the server's owner only: the server's addresses and credentials, backup to a file in the data folder, restore from such a
/// file, and the apps' broadcast channels.
package struct ControlRoutes: Sendable {
    /// Receives the name of a file in the data folder.
    package typealias Work = @Sendable (String) async throws(PushError) -> Void

    /// Receives the name of a file in the data folder and whether to renew secrets that cannot be decrypted. Returns what was renewed.
    package typealias Restoring = @Sendable (_ file: String, _ renewsSecrets: Bool) async throws(PushError) -> JSON

    /// Receives a JSON object that describes the operation and returns its result.
    package typealias Task = @Sendable (JSON) async throws(PushError) -> JSON

    /// An operation, by its path.
    enum Operation: String {
        case backup = "/api/v1/backup"
        case restore = "/api/v1/restore"
        case channels = "/api/v1/apns/channels"
        case server = "/api/v1/server"
        case plugins = "/api/v1/plugins"

        var method: HTTPRequest.Method {
            switch self {
            case .backup, .restore, .channels: .post
            case .server, .plugins: .get
            }
        }
    }

    private let backup: Work
    private let restore: Restoring
    private let channels: Task
    private let server: @Sendable () async -> JSON
    private let plugins: @Sendable () async -> JSON
    private static let largestBody = 4096

    /// - Parameters:
    ///   - channels: Handles `POST /api/v1/apns/channels`.
    ///   - server: Handles `GET /api/v1/server`.
    ///   - plugins: Handles `GET /api/v1/plugins`.
    package init(
        backup: @escaping Work, restore: @escaping Restoring, channels: @escaping Task, server: @escaping @Sendable () async -> JSON,
        plugins: @escaping @Sendable () async -> JSON = { .array([]) }
    ) {
        self.backup = backup
        self.restore = restore
        self.channels = channels
        self.server = server
        self.plugins = plugins
    }

    /// Throws `control.forbidden` (403) if the request came over a network port.
    func answer(_ request: WebRequest, _ operation: Operation, isTrusted: Bool) async throws(PushError) -> WebAnswer {
        guard isTrusted else {
            throw PushError(
                "control.forbidden", "this request is allowed only on the server's machine, over the socket in its data folder",
                hint: "use pushhost hub backup, pushhost hub restore or pushhost apns there", status: 403)
        }
        guard request.method == operation.method else { throw PushError.notAllowed(request, operation.method.rawValue) }
        switch operation {
        case .server: return Self.answer(await server())
        case .plugins: return Self.answer(await plugins())
        case .channels:
            let order = try JSON(body: try await request.body.read(limit: Self.largestBody), hint: "send a JSON object")
            return Self.answer(try await channels(order))
        case .backup:
            let order = try Self.order(try await request.body.read(limit: Self.largestBody), allowsRenewal: false)
            try await backup(order.file)
            return WebAnswer(.noContent)
        case .restore:
            let order = try Self.order(try await request.body.read(limit: Self.largestBody), allowsRenewal: true)
            let renewed = try await restore(order.file, order.renewsSecrets)
            return order.renewsSecrets ? Self.answer(renewed) : WebAnswer(.noContent)
        }
    }

    private static func answer(_ json: JSON) -> WebAnswer { WebAnswer(.ok, "application/json", json.serialized()) }

    /// Parses `{"file": "backup-….sqlite"}`. The prefix ensures that the file is not one of the server's own. For a restore,
    /// `"renewSecrets": true` is allowed too.
    private static func order(_ body: [UInt8], allowsRenewal: Bool) throws(PushError) -> (file: String, renewsSecrets: Bool) {
        let members = (try? JSON(parsing: body))?.object
        let renewal = members?["renewSecrets"]
        guard let name = members?["file"]?.string, members?.count == (renewal == nil ? 1 : 2), name.hasPrefix("backup-"),
            name.utf8.count <= 100, name.utf8.allSatisfy(\.isFileNameCharacter), renewal == nil || allowsRenewal && renewal?.bool != nil
        else {
            throw PushError(
                "control.file", "the body does not name a valid file in the data folder",
                hint: #"write {"file": "backup-1.sqlite"}: backup- and letters, digits, dots and hyphens"#, status: 400)
        }
        return (name, renewal?.bool == true)
    }
}

extension UInt8 {
    fileprivate var isFileNameCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
