import AsyncHTTPClient
import Delivery
import Glibc
import HubWire
import NIOCore
import PushModel
import PushRuntime
import Synchronization
import WebAPI

/// The folders (`file:`) and hosts (`http:`, `https:`) that jobs may read and write.
///
/// Await `shutdown()` before the last reference is released.
final class JobLocations: JobFiles {
    private let allowed: Mutex<Allowed>
    /// The folder for temporary files of network transfers.
    private let spool: String
    private let random: any RandomSource
    private let client: HTTPClient
    private let network: PublicNetwork?

    private struct Allowed {
        let folders: [[String]]
        let hosts: [String]
        /// The allowed locations, for messages.
        let text: String

        init(folders: [String], hosts: [String]) {
            let here = getcwd(nil, 0).map { start in
                defer { free(start) }
                return String(cString: start)
            }
            self.folders = folders.map { folder in
                JobLocations.parts(folder.hasPrefix("/") ? folder : "\(here ?? "")/\(folder)").filter { $0 != "." }
            }
            self.hosts = hosts.map { $0.lowercased() }
            let names = self.folders.map { "file:///\($0.joined(separator: "/"))" } + self.hosts.map { "http://\($0)" }
            text =
                names.isEmpty
                ? "none: set jobs.folders or jobs.hosts" : "below \(names.joined(separator: ", "))"
        }
    }

    /// - Parameters:
    ///   - folders: relative paths are resolved against the working directory at start.
    ///   - hosts: host names, with a port to allow only that port.
    ///   - isPublicOnly: whether hosts with addresses that are not public are rejected.
    init(folders: [String], hosts: [String], isPublicOnly: Bool, spool: String, random: any RandomSource) {
        allowed = Mutex(Allowed(folders: folders, hosts: hosts))
        self.spool = spool
        self.random = random
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(30)))
        configuration.connectionPool.retryConnectionEstablishment = false
        network = isPublicOnly ? PublicNetwork(clock: SystemClock()) : nil
        if isPublicOnly { PublicNetwork.watch(&configuration) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Changes the allowed locations for jobs that start later.
    func change(folders: [String], hosts: [String]) { allowed.withLock { $0 = Allowed(folders: folders, hosts: hosts) } }

    func shutdown() async { try? await client.shutdown() }

    func check(_ uri: String) throws(PushError) { _ = try location(uri) }

    func read(_ uri: String) async throws(PushError) -> any JobInput {
        switch try location(uri) {
        case .file(let folder, let path):
            guard let name = path.last else { throw form(uri, "it names a folder") }
            return try await blocking { () throws(PushError) in
                let parent = try FolderDescriptor(folder).entering(path.dropLast(), makes: false)
                return try JobFileInput(name, in: parent)
            }
        case .web(let address):
            return try await JobTransfer(client: client, network: network, address: address).get(into: try await temporary())
        }
    }

    func write(_ path: String, in container: String) async throws(PushError) -> any JobOutput {
        let parts = Self.parts(path)
        switch try location(container) {
        case .file(let folder, let start):
            return try await blocking { () throws(PushError) in
                let parent = try FolderDescriptor(folder).entering(start + parts.dropLast(), makes: true)
                return try JobFileOutput(parts.last ?? "", in: parent)
            }
        case .web(let address):
            let query = address.path.drop { $0 != "?" }
            var below = address.path.prefix { $0 != "?" }
            while below.last == "/" { below.removeLast() }
            let encoded = parts.map { PercentEncoding.encode($0) }.joined(separator: "/")
            let url = "\(address.scheme)://\(address.authority)\(below)/\(encoded)\(query)"
            guard let target = WebAddress(url) else { throw form(container, "the address of a file in it would be invalid") }
            return JobUpload(transfer: JobTransfer(client: client, network: network, address: target), file: try await temporary())
        }
    }

    private func temporary() async throws(PushError) -> TemporaryFile {
        try await blocking { [spool, random] () throws(PushError) in try TemporaryFile(path: "\(spool)/job-\(random.uuid())") }
    }

    // MARK: - URIs

    private enum Location {
        /// An allowed folder and the path below it.
        case file(folder: String, path: [String])
        case web(WebAddress)
    }

    private func location(_ uri: String) throws(PushError) -> Location {
        let allowed = allowed.withLock { $0 }
        if let address = WebAddress(uri) {
            guard allowed.hosts.contains(address.host) || allowed.hosts.contains(address.authority) else { throw forbidden(uri) }
            return .web(address)
        }
        let start = ["file:///", "file://localhost/"].first { uri.lowercased().hasPrefix($0) }
        guard let start else { throw form(uri, "the scheme must be file:, http: or https:") }
        guard !uri.contains(where: { $0 == "?" || $0 == "#" }) else { throw form(uri, "a file: URI must not contain ? or #") }
        var written = uri.dropFirst(start.utf8.count)
        if written.last == "/" { written.removeLast() }
        let parts = written.split(separator: "/", omittingEmptySubsequences: false).map { PercentEncoding.decode($0) }
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && part != "." && part != ".." && !part.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "/") }
        }
        guard isPlain else { throw form(uri, "its path must not contain ., .. or empty parts") }
        guard let folder = allowed.folders.first(where: { parts.starts(with: $0) }) else { throw forbidden(uri) }
        return .file(folder: "/" + folder.joined(separator: "/"), path: Array(parts.dropFirst(folder.count)))
    }

    private static func parts(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private func forbidden(_ uri: String) -> PushError {
        PushError(
            "job.forbidden", "jobs may not use \(uri.withoutQuery)", hint: "allowed locations: \(allowed.withLock { $0.text })", status: 403
        )
    }

    private func form(_ uri: String, _ why: String) -> PushError {
        PushError(
            "job.uri", "jobs cannot use \(uri.withoutQuery): \(why)", hint: "allowed locations: \(allowed.withLock { $0.text })",
            status: 400)
    }
}

extension String {
    /// The address without its query, which may contain a signature or token, for messages.
    var withoutQuery: String { String(prefix { $0 != "?" }.prefix(500)) }
}
