import Bindings
import Glibc
import PushCore

/// `PUSHHOST_SECRET_<NAME>`, then `secrets.json` in the working directory, then, in a rehearsal, `demo_secrets.json` beside
/// the script or in the folder above it, where the flows of a spec are.
struct ProjectSecrets: SecretSource {
    static let projectFile = "secrets.json"
    static let demoFile = "demo_secrets.json"

    private let project: [String: String]
    private let demo: [String: String]
    private let demoPath: String?
    private let sources: SourceFiles?

    /// `demoFolder` is nil on targets that are no rehearsal: they refuse the demo's values. `sources` learns of
    /// every file before it is looked for.
    init(demoFolder: String?, sources: SourceFiles? = nil) throws(PushError) {
        self.sources = sources
        project = try Self.load(Self.projectFile, sources)
        demoPath = demoFolder.map { folder in
            let places = [folder, ProjectScripts.normalized("\(folder)/..")].map { $0.isEmpty ? Self.demoFile : "\($0)/\(Self.demoFile)" }
            return places.first { place in
                sources?.note(place)
                return access(place, F_OK) == 0
            } ?? places[0]
        }
        demo = try demoPath.map { path throws(PushError) in try Self.load(path, sources) } ?? [:]
    }

    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? {
        guard name.utf8.allSatisfy({ $0.isPropertyCharacter }) else {
            throw PushError(
                "secret.name", "\"\(name)\" cannot be a secret's name", hint: "use letters, digits and _", status: 400)
        }
        if let value = getenv(Self.variable(name)) { return Secret(String(cString: value)) }
        if let value = project[name] ?? demo[name] { return Secret(value) }
        guard demoPath != nil else { return nil }
        return try Self.load("\(script.folder)/\(Self.demoFile)", sources)[name].map(Secret.init)
    }

    var names: [String] { (Array(project.keys) + Array(demo.keys)).sorted() }

    func places(for name: String) -> String {
        "set \(Self.variable(name)), or put \"\(name)\" into \(Self.projectFile)"
            + (demoPath.map { " or, for rehearsals, \($0)" } ?? "")
    }

    private static func variable(_ name: String) -> String { "PUSHHOST_SECRET_\(name.uppercased())" }

    private static func load(_ path: String, _ sources: SourceFiles?) throws(PushError) -> [String: String] {
        sources?.note(path)
        let bytes: [UInt8]
        do {
            bytes = try TextFile.read(path, limit: 1 << 20, kind: "secrets")
        } catch  where error.code == "secrets.not_found" {
            return [:]
        }
        guard let object = try? JSON(parsing: bytes).object else {
            throw PushError("secrets.invalid", "\(path) is not a JSON object", hint: "write { \"name\": \"value\" }")
        }
        var secrets: [String: String] = [:]
        for (name, value) in object.members {
            guard let text = value.string else {
                throw PushError("secrets.invalid", "\(path): the value of \"\(name)\" is not a string")
            }
            secrets[name] = text
        }
        return secrets
    }
}
