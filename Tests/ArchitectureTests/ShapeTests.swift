import FoundationEssentials
import Testing

/// The shape of the sources: cycles between folders, the size of types, protocols, initialisers, functions and folders, and types in
/// several files. `measure.py` has the limits. `exceptions.json` has what is beyond them, and may only shrink.
@Suite struct ShapeTests {
    private struct Shape: Decodable, Sendable {
        let cycles: [String: [String]]
        let types: [String: Int]
        let protocols: [String: Int]
        let initialisers: [String: Int]
        let functions: [String: Int]
        let folders: [String: Int]
        /// Files that declare a protocol and another type.
        let ports: [String: Int]
        let parts: Int

        /// All figures, by names such as `types Lua.Machine`; 1 for a folder in a cycle.
        var figures: [String: Int] {
            var figures = ["parts": parts]
            for (target, folders) in cycles {
                for folder in folders { figures["cycles \(target)/\(folder)"] = 1 }
            }
            for (kind, counts) in [
                ("types", types), ("protocols", protocols), ("initialisers", initialisers), ("functions", functions), ("folders", folders),
                ("ports", ports),
            ] {
                for (name, count) in counts { figures["\(kind) \(name)"] = count }
            }
            return figures
        }
    }

    @Test func `the shape of the sources is within its limits, or does not exceed its exceptions`() async throws {
        let measured = try await Package.report(Shape.self, from: "measure.py").figures
        let file = Package.root.appending(path: "Tests/ArchitectureTests/exceptions.json")
        let exceptions = try JSONDecoder().decode(Shape.self, from: Data(contentsOf: file)).figures
        for name in Set(measured.keys).union(exceptions.keys).sorted() {
            let (figure, limit) = (measured[name, default: 0], exceptions[name, default: 0])
            if figure > limit { Issue.record("\(name): \(figure) exceeds \(limit == 0 ? "the limit" : "the exception \(limit)")") }
            if figure < limit { Issue.record("lower the exception \(name) from \(limit) to \(figure), with measure.py --json") }
        }
    }
}
