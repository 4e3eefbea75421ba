package import Lua
import LuaSyntax

/// Finds mistakes in a script without running it. Its knowledge of the `push` module comes from the binding registry. It reports nothing
/// where a value is uncertain.
package struct FlowChecker: Sendable {
    let vocabulary: Vocabulary
    private let modules: LuaSearchPath?
    private let target: CheckedTarget

    /// `modules` resolves the modules that the script requires besides `push`; `target` is the kind of target that it will run against.
    package init(_ registry: BindingRegistry, modules: LuaSearchPath? = nil, target: CheckedTarget = .embedded) {
        vocabulary = Vocabulary(registry)
        self.modules = modules
        self.target = target
    }

    /// The findings in source order.
    package func findings(in source: [UInt8], name: String) -> [Finding] {
        let chunk: Chunk
        do throws(SyntaxError) {
            chunk = try Chunk(parsing: source)
        } catch {
            return [Finding(SourceFinding(error), in: SourceText(source), script: name)]
        }
        let remarks = knowledge(of: chunk).remarks.sorted { ($0.range.lowerBound, $0.code) < ($1.range.lowerBound, $1.code) }
        return remarks.map { Finding($0, in: chunk.text, script: name) }
    }

    /// What a walk through the script has found.
    func knowledge(of chunk: Chunk) -> ScriptKnowledge {
        let script = ScriptKnowledge(chunk, vocabulary, modules, target)
        FlowWalk.visit(script)
        return script
    }
}
