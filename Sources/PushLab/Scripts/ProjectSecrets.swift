package import Bindings
import Glibc
package import PushModel
package import PushRuntime

/// Finds secrets, in this order:
/// - the environment variable `PUSHHOST_SECRET_<NAME>`,
/// - `secrets.json` in the working directory or, if it does not exist, in the script's folder or the nearest one above it, up to the
///   project's root,
/// - in a rehearsal, `demo_secrets.json` in the script's folder or, for specs, in the folder above it.
package struct ProjectSecrets: SecretSource {
    static let projectFile = "secrets.json"
    static let demoFile = "demo_secrets.json"

    private let project: [String: String]
    private let projectPath: String
    private let demo: [String: String]
    private let demoPath: String?
    private let sources: SourceFiles?

    /// - Parameters:
    ///   - demoFolder: the script's folder; nil on targets that are no rehearsal, where demo secrets are not used.
    ///   - sources: records every file before it is looked for.
    package init(demoFolder: String?, sources: SourceFiles? = nil) throws(PushError) {
        self.sources = sources
        projectPath = Self.projectPath(from: demoFolder ?? ".", sources)
        project = try Self.load(projectPath, sources)
        demoPath = demoFolder.map { folder in
            let candidates = [folder, FilePath.normalized("\(folder)/..")].map { $0.isEmpty ? Self.demoFile : "\($0)/\(Self.demoFile)" }
            return candidates.first { candidate in
                sources?.note(candidate)
                return access(candidate, F_OK) == 0
            } ?? candidates[0]
        }
        demo = try demoPath.map { path throws(PushError) in try Self.load(path, sources) } ?? [:]
    }

    package func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? {
        guard name.utf8.allSatisfy({ $0.isPropertyCharacter }) else {
            throw PushError(
                "secret.name", "invalid secret name \"\(name)\"", hint: "use letters, digits and _", status: 400)
        }
        if let value = getenv(Self.variable(name)) { return Secret(String(cString: value)) }
        if let value = project[name] ?? demo[name] { return Secret(value) }
        guard demoPath != nil else { return nil }
        return try Self.load("\(script.folder)/\(Self.demoFile)", sources)[name].map(Secret.init)
    }

    package var names: [String] { (Array(project.keys) + Array(demo.keys)).sorted() }

    package func searchedLocations(for name: String) -> String {
        "set \(Self.variable(name)), or put \"\(name)\" into \(projectPath)"
            + (demoPath.map { " or, for rehearsals, \($0)" } ?? "")
    }

    /// The path of `secrets.json`: in the working directory, or else searched upwards from a folder to the root of its project, which
    /// contains .git or .luarc.json.
    private static func projectPath(from folder: String, _ sources: SourceFiles?) -> String {
        sources?.note(projectFile)
        guard access(projectFile, F_OK) != 0 else { return projectFile }
        var folder = FilePath.normalized(folder)
        for _ in 0..<deepest {
            func path(_ name: String) -> String { folder.isEmpty ? name : folder == "/" ? "/\(name)" : "\(folder)/\(name)" }
            sources?.note(path(projectFile))
            if access(path(projectFile), F_OK) == 0 { return path(projectFile) }
            guard folder != "/", access(path(".git"), F_OK) != 0, access(path(".luarc.json"), F_OK) != 0 else { break }
            folder = FilePath.normalized(path(".."))
        }
        return projectFile
    }

    /// Maximum number of folders to search upwards.
    private static let deepest = 8

    private static func variable(_ name: String) -> String { "PUSHHOST_SECRET_\(name.uppercased())" }

    private static func load(_ path: String, _ sources: SourceFiles?) throws(PushError) -> [String: String] {
        sources?.note(path)
        let bytes: [UInt8]
        do {
            bytes = try TextFile.read(path, limit: 1 << 20, kind: "secrets")
        } catch  where error.code == "secrets.not_found" {
            return [:]
        }
        let value: JSON
        do throws(JSONError) {
            value = try JSON(parsing: bytes)
        } catch {
            throw PushError(
                "secrets.invalid", "\(path):\(error.line):\(error.column) is not JSON: \(error.message)",
                hint: "write { \"name\": \"value\" }")
        }
        guard let object = value.object else {
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
