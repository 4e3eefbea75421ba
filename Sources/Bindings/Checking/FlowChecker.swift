import Lua
import LuaSyntax

/// Finds mistakes in a script without running it. What it knows of the `push` module it takes from the binding registry, and
/// it stays silent where a value may be something else.
package struct FlowChecker: Sendable {
    let vocabulary: Vocabulary
    private let modules: LuaSearchPath?
    private let target: CheckedTarget

    /// `modules` is where the script finds what it requires beside `push`, `target` what it is to run against.
    package init(modules: LuaSearchPath? = nil, target: CheckedTarget = .embedded) {
        self.init(.shared, modules: modules, target: target)
    }

    init(_ vocabulary: Vocabulary, modules: LuaSearchPath? = nil, target: CheckedTarget = .embedded) {
        self.vocabulary = vocabulary
        self.modules = modules
        self.target = target
    }

    /// In the order of the script.
    package func findings(in source: [UInt8], name: String) -> [Finding] {
        let chunk: Chunk
        do throws(SyntaxError) {
            chunk = try Chunk(parsing: source)
        } catch {
            return [Finding(Remark(error), in: SourceText(source), script: name)]
        }
        let remarks = walk(through: chunk).remarks.sorted { ($0.range.lowerBound, $0.code) < ($1.range.lowerBound, $1.code) }
        return remarks.map { Finding($0, in: chunk.text, script: name) }
    }

    func walk(through chunk: Chunk) -> FlowWalk {
        var walk = FlowWalk(chunk, vocabulary, modules, target)
        walk.script()
        return walk
    }
}
