import FoundationEssentials
import Lua
import LuaSyntax
import Testing

/// Lua's own compiler, to compare with the parser of this package.
final class Compiler: Sendable {
    private let thread = LuaThread(name: "compiler")
    private let state: LuaState

    init() throws {
        state = try LuaState(thread: thread)
    }

    deinit {
        thread.stop()
    }

    /// Lua's error message for a script; nil if it accepts the script.
    func refusal(of source: [UInt8]) async throws -> String? {
        do {
            try await state.compile(LuaScript(name: "x", source: source))
            return nil
        } catch let error as LuaError {
            return error.message
        }
    }

    /// Expects that both accept or both refuse the script. Returns whether they accept it.
    @discardableResult
    func agree(on source: [UInt8], sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws -> Bool {
        let refusal = try await refusal(of: source)
        let mine = diagnosis(of: source)
        if (refusal == nil) != (mine == nil) {
            let text = String(decoding: source.prefix(2000), as: UTF8.self)
            Issue.record("Lua: \(refusal ?? "fine"); here: \(mine ?? "fine"); script:\n\(text)", sourceLocation: sourceLocation)
        }
        return refusal == nil
    }
}

/// `LINE:COLUMN MESSAGE`; nil for a script without syntax errors.
func diagnosis(of source: [UInt8]) -> String? {
    do throws(SyntaxError) {
        _ = try Chunk(parsing: source)
        return nil
    } catch {
        let place = SourceText(source).position(at: error.range.lowerBound)
        return "\(place.line):\(place.column) \(error.message)"
    }
}

/// The scripts that are part of the project.
let bundledScripts: [[UInt8]] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let names = ["scripts", "docs", "Sources"].flatMap { folder in
        ((try? FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)) ?? []).map { "\(folder)/\($0)" }
    }
    return names.filter { $0.hasSuffix(".lua") }.sorted().compactMap { name in
        FileManager.default.contents(atPath: root.appending(path: name).path).map { [UInt8]($0) }
    }
}()

/// SplitMix64 (Steele, Lea and Flood, 2014), so that every machine tests the same cases.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
