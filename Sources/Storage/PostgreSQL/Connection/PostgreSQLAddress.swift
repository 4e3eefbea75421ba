import CPostgreSQL
package import PushModel

/// The URL of a PostgreSQL database: `postgres://user:password@host:port,host:port/database?sslmode=verify-full`, with the parameters of
/// libpq. What is missing comes from the environment (`PGPASSWORD`, `PGPASSFILE`, …).
package struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// A parameter of a connection.
    struct Parameter: Sendable, Equatable {
        let key: String
        let value: String
    }

    /// The parameters for each server. Servers are tried one by one, because libpq's own list stops at a server that does not answer.
    let servers: [[Parameter]]
    /// Names the servers and the database, without the password.
    package let description: String

    /// Throws `storage.unavailable`: with status 400 for an invalid URL, with 500 if PostgreSQL's client library is missing.
    package init(_ url: String) throws(PushError) {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw Self.invalid("it does not begin with postgres://")
        }
        let parameters = try Self.parameters(of: url)
        var shared = parameters.filter { !["host", "hostaddr", "port", "connect_timeout"].contains($0.key) }
        if !shared.contains(where: { $0.key == "target_session_attrs" }) {
            shared.append(Parameter(key: "target_session_attrs", value: "read-write"))
        }
        shared.append(Parameter(key: "fallback_application_name", value: "pushhost"))
        shared.append(Parameter(key: "client_encoding", value: "UTF8"))
        func list(_ key: String) -> [String] {
            parameters.first { $0.key == key }.map { $0.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
                ?? []
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(hosts.count, addresses.count, 1)
        guard [0, count].contains(hosts.count) || addresses.isEmpty, [0, 1, count].contains(ports.count) else {
            throw Self.invalid("it has \(ports.count) ports for \(count) servers")
        }
        servers = (0..<count).map { number in
            func part(_ key: String, _ values: [String]) -> [Parameter] {
                guard let value = values.count == 1 ? values.first : values.dropFirst(number).first, !value.isEmpty else { return [] }
                return [Parameter(key: key, value: value)]
            }
            return part("host", hosts) + part("hostaddr", addresses) + part("port", ports) + shared
        }
        let database = parameters.first { $0.key == "dbname" }?.value ?? ""
        // Otherwise, parts of the password would be taken for these, and would be shown.
        guard !(hosts + [database]).contains(where: { $0.contains("@") }), ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
            throw Self.invalid("its user or password has a character that must be written with %")
        }
        description = "\(servers.map(Self.name(of:)).joined(separator: ","))/\(database)"
    }

    /// The name of a server for messages.
    static func name(of server: [Parameter]) -> String {
        func value(_ key: String) -> String? { server.first { $0.key == key }?.value }
        let host = value("host") ?? value("hostaddr") ?? "localhost"
        return value("port").map { "\(host):\($0)" } ?? host
    }

    /// The parameters that the URL gives.
    private static func parameters(of url: String) throws(PushError) -> [Parameter] {
        if let flaw = cpg_load() {
            throw PushError(
                "storage.unavailable", "PostgreSQL's client library cannot be used: \(String(cString: flaw))",
                hint: "install Debian's package libpq5", status: 500)
        }
        var reason: UnsafeMutablePointer<CChar>?
        guard let options = cpg_parse(url, &reason) else {
            // The reason may quote parts of the password.
            defer { cpg_free_text(reason) }
            let text = url.contains("@") ? "it cannot be parsed" : reason.map { String(cString: $0) } ?? "it cannot be parsed"
            throw invalid(text.asClause)
        }
        defer { cpg_free_options(options) }
        var parameters: [Parameter] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.value {
                parameters.append(Parameter(key: String(cString: keyword), value: String(cString: value)))
            }
            option += 1
        }
        return parameters
    }

    private static func invalid(_ reason: String) -> PushError {
        PushError(
            "storage.unavailable", "the URL of the PostgreSQL database is invalid: \(reason)",
            hint: "write it like postgres://user@host:5432/database; characters such as @ and / in a password are written as %40 and %2F",
            status: 400)
    }
}
