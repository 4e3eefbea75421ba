import Lua
import Testing

@testable import Bindings

@Suite struct EditorStubTests {
    private let lines = EditorStub(.standard).text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    @Test func `the stub is valid Lua and returns the functions of push`() async throws {
        let thread = LuaThread(name: "stub")
        defer { thread.stop() }
        let state = try LuaState(thread: thread)
        let functions = BindingRegistry.standard.bindings.filter { $0.receiver == nil && $0.style != .value && $0.name != "push.log" }
        let check = functions.map { "assert(type(\($0.name)) == 'function', '\($0.name)')" }.joined(separator: "\n")
        let script = "local push = (function() \(EditorStub(.standard).text) end)()\n\(check)\nreturn \(functions.count)"
        #expect(
            try await state.run(LuaScript(name: "stub", source: script), id: LuaRunID(rawValue: 1)) == [.integer(Int64(functions.count))])
    }

    @Test func `every binding is defined once, with its own summary`() throws {
        for binding in BindingRegistry.standard.bindings {
            let name = binding.receiver.map { "\($0.prefix(1).uppercased())\($0.dropFirst()):\(binding.shortName)" } ?? binding.name
            let places = lines.indices.filter { lines[$0].hasPrefix("function \(name)(") || lines[$0] == "\(name) = nil" }
            #expect(places.count == 1, "\(binding.name)")
            let above = lines[..<(places.first ?? 0)].reversed().prefix { $0.hasPrefix("---") }
            #expect(above.contains("---\(binding.summary)"), "\(binding.name)")
        }
    }

    @Test func `every key of a call is a field of its options, optional where it may be omitted`() throws {
        let send = try block("---@class (exact) push.send.Options")
        #expect(send.contains { $0.hasPrefix("---@field to? string|push.Everyone # ") })
        #expect(send.contains { $0.hasPrefix("---@field priority? \"high\"|\"normal\"|\"low\" # ") })
        let device = try block("---@class (exact) push.device.Options")
        #expect(device.contains { $0.hasPrefix("---@field name string # ") })
        #expect(device.contains { $0.hasPrefix("---@field platform? push.Platform # ") })
        for binding in BindingRegistry.standard.bindings where binding.style == .table {
            let call = binding.name.replacing(":", with: ".").replacing("push.", with: "")
            let options = binding.receiver.map { "push.\($0.prefix(1).uppercased())\(call.dropFirst()).Options" } ?? "push.\(call).Options"
            let fields = try block("---@class (exact) \(options)").dropFirst().prefix { $0.hasPrefix("---@field") }
            #expect(fields.count == binding.parameters.count, "\(options)")
        }
    }

    @Test func `a single required value may be passed without its name`() {
        #expect(lines.contains("---@overload fun(name: string): push.Device"))
        #expect(lines.contains("---@overload fun(self: push.Session, device: push.Device): push.Registration"))
        #expect(!lines.contains { $0.hasPrefix("---@overload") && $0.contains("username") })
    }

    @Test func `two results have two annotations, a table type has one`() throws {
        let attempt = try #require(lines.firstIndex(of: "function push.try(fn, ...) end"))
        #expect(lines[(attempt - 2)..<attempt] == ["---@return any", "---@return push.Error?"])
        #expect(lines.contains("---@return table<string, string>"))
    }

    /// Every type name of this project in an annotation.
    @Test func `every type that an annotation names is defined`() {
        var defined: Set<String> = ["push"]
        for line in lines {
            for match in line.matches(of: /---@(?:class|alias) (?:\(exact\) )?([A-Za-z_.]+)/) { defined.insert(String(match.1)) }
        }
        for line in lines where line.hasPrefix("---@") {
            let types = line.prefix(upTo: line.firstRange(of: " # ")?.lowerBound ?? line.endIndex)
            for match in types.matches(of: /push\.[A-Za-z_.]+/) {
                #expect(defined.contains(String(match.0)), "\(line)")
            }
        }
    }

    /// The lines from this one to the next empty one.
    private func block(_ first: String) throws -> ArraySlice<String> {
        let start = try #require(lines.firstIndex(of: first), "\(first)")
        return lines[start...].prefix { !$0.isEmpty }
    }
}
