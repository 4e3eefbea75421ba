import FoundationEssentials
import Glibc
import PushModel
import PushRuntime
import PushServer
import Storage
import WebAPI

/// Checks a server's setup. Changes nothing.
struct Doctor: Sendable {
    let source: SettingsSource

    /// Free disk space below which the check fails.
    private static let minimumFreeSpace: Int64 = 256 << 20
    /// A time before this version was written; a clock that is earlier is wrong.
    private static let earliest = Timestamp(seconds: 1_767_225_600)
    private static let clockSkew: Duration = .seconds(300)

    private let clock = SystemClock()

    init(source: SettingsSource) { self.source = source }

    /// - Parameter found: called with each result at once, so that a server that hangs does not delay the results before it.
    func examine(_ found: @escaping @Sendable (Check) -> Void = { _ in }) async -> [Check] {
        let given: ConfiguredSettings
        do throws(PushError) {
            given = try source.read()
        } catch {
            let faults = error.details["faults"]?.array?.compactMap(\.string) ?? [error.message]
            let checks = faults.map { Check.wrong("settings", $0, error.hint) }
            for check in checks { found(check) }
            return checks
        }
        let file = source.file.map { "\($0): valid" } ?? "no file; defaults apply"
        let settings = given.settings
        var checks: [Check] = []
        func add(_ new: [Check]) {
            for check in new { found(check) }
            checks += new
        }
        add([.well("settings", file)] + given.misspelt.map { .wrong("settings", $0, "rename or remove it") })
        let (state, isRunning) = folder(settings.data)
        add(state)
        let path = "\(settings.data)/\(DataFolder.databaseName)"
        var isSound = true
        if access(path, F_OK) == 0 || !isRunning, access(settings.data, X_OK) == 0 {
            let found = await database(path, settings, isRunning: isRunning)
            isSound = found.allSatisfy { $0.isWell || $0.name == Self.identity }
            add(found)
        } else if isRunning {
            add([
                .wrong(
                    "database", "\(path) is missing: new data will be lost",
                    "back up with pushhost hub backup now, stop the server, and restore the backup")
            ])
        }
        let backend = BackendChecks(settings: settings)
        // A damaged database is not opened, because opening could change it.
        if isSound { add(await backend.storedData()) }
        if settings.tlsPort != nil { add([CertificateCheck(settings: settings).check(now: clock.now)]) }
        add(await CredentialChecks(settings: settings, now: clock.now).checks(isRunning: isRunning))
        let network = NetworkChecks(settings: settings)
        add(await network.ports(isRunning: isRunning))
        if isRunning { add([await network.server()]) }
        if isRunning { add(await DeliveryChecks(settings: settings).checks()) }
        if isRunning { add(await PluginChecks(settings: settings).checks()) }
        if isRunning { add(await FlowChecks(settings: settings).checks()) }
        add(await network.pushServices(isRunning: isRunning))
        add(await WebhookChecks(settings: settings, network: network).checks(isRunning: isRunning))
        add(await backend.issuer())
        add([time(settings.data)])
        return checks
    }

    // MARK: - The data folder

    /// Checks the data folder. Also returns whether a server uses it.
    private func folder(_ path: String) -> ([Check], isRunning: Bool) {
        let name = "data folder"
        guard access(path, F_OK) == 0 else {
            let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            guard access(parent.isEmpty ? "/" : parent, W_OK) == 0 else {
                return ([.wrong(name, "\(path) does not exist and cannot be created", "name another with --data")], false)
            }
            return ([.well(name, "\(path) does not exist yet; the first start creates it")], false)
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            let why = String(cString: strerror(errno))
            return ([.wrong(name, "\(path) cannot be used: \(why)", "run this as the server's user, or chown the folder to it")], false)
        }
        let isRunning = DataFolder.isInUse(path)
        var checks: [Check] = [.well(name, "\(path), \(isRunning ? "used by a running server" : "no server is running")")]
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if let rights = (attributes?[.posixPermissions] as? UInt).map({ Int(clamping: $0) }) ?? attributes?[.posixPermissions] as? Int,
            rights & 0o077 != 0
        {
            checks.append(
                .wrong(
                    "permissions", "other users can read \(path) (mode \(String(rights & 0o777, radix: 8))), including the keys",
                    "chmod 700 \(path)"))
        } else {
            checks.append(.well("permissions", "only the owner can read the data folder"))
        }
        checks.append(files(path, owner: attributes?.number(.ownerAccountID)))
        let attribute = (try? FileManager.default.attributesOfFileSystem(forPath: path))?[.systemFreeSize]
        if let free = (attribute as? UInt64).map({ Int64(clamping: $0) }) ?? (attribute as? Int64) {
            let text = "\(Self.gibibytes(free)) free"
            checks.append(
                free < Self.minimumFreeSpace
                    ? .wrong("disk", text, "free disk space; without it, the server accepts nothing new") : .well("disk", text))
        }
        return (checks, isRunning)
    }

    /// Checks that the server can use all files in the folder. Files that a command of another user created often cannot be used.
    private func files(_ folder: String, owner: UInt64?) -> Check {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        for name in names where name != ControlSocket.name {
            let path = "\(folder)/\(name)"
            let file = try? FileManager.default.attributesOfItem(atPath: path)
            guard file?[.type] as? FileAttributeType == .typeRegular else { continue }
            if let owner, let user = file?.number(.ownerAccountID), owner != user {
                return .wrong(
                    "files", "\(path) belongs to user \(user), but its folder to user \(owner)",
                    "chown \(owner) \(path); the server may not be able to use the file")
            }
            if access(path, R_OK | W_OK) != 0, errno != ENOENT {
                return .wrong(
                    "files", "\(path) cannot be used: \(String(cString: strerror(errno)))",
                    "run this as the server's user, or chown the file to it")
            }
        }
        return .well("files", "all usable")
    }

    /// Checks the database. Empty if it does not exist yet.
    private func database(_ path: String, _ settings: ServerSettings, isRunning: Bool) async -> [Check] {
        let (name, folder) = ("database", settings.data)
        do throws(PushError) {
            // Before opening, which creates a missing log.
            if isRunning { try await DatabaseExamination.checkServed(path, in: folder) }
            let record = isRunning ? nil : try DataFolderMarker(folder: folder).read()
            let checks = record?.isDamaged == true ? [Check.wrong(Self.identity, DataFolderMarker.damage(of: folder), Self.rewriting)] : []
            do throws(PushError) {
                if let record {
                    let examination = try await DatabaseExamination(of: path, record.database)
                    if let loss = examination.suspectedLoss { return checks + [.wrong(name, loss, DatabaseExamination.remedy)] }
                    guard examination.finding != .absent else {
                        guard let key = PayloadKeyFile(settings).finding(.absent, record.database) else { return checks }
                        return checks + [.soon(name, "\(key); the first start creates one with it", PayloadKeyFile.lostDatabase)]
                    }
                }
                try await SQLiteStorage.inspect(path)
                return checks + [.well(name, "intact, with the schema of this version")]
            } catch {
                return checks + [.wrong(name, error)]
            }
        } catch {
            return [.wrong(name, error)]
        }
    }

    /// Name of the check of the file that records which database belongs to the folder.
    private static let identity = "identity"

    private static let rewriting = "start the server with its settings, which writes the file again"

    /// For example `71.4 GiB`, or `200 MiB` below one GiB.
    private static func gibibytes(_ bytes: Int64) -> String {
        let tenths = bytes * 10 >> 30
        return tenths < 10 ? "\(bytes >> 20) MiB" : "\(tenths / 10).\(tenths % 10) GiB"
    }

    // MARK: - Time

    private func time(_ folder: String) -> Check {
        let now = clock.now
        let hint = "set the clock, for example with timedatectl set-ntp true; tokens and certificates depend on it"
        guard now > Self.earliest else { return .wrong("clock", "the time is \(now), which is too early", hint) }
        let last = (try? FileManager.default.attributesOfItem(atPath: folder))?[.modificationDate] as? Date
        if let last, Timestamp(seconds: Int64(last.timeIntervalSince1970)) > now + Self.clockSkew {
            return .wrong("clock", "the time is \(now), but \(folder) was changed later", hint)
        }
        return .well("clock", "\(now.iso8601(fraction: false))")
    }
}
