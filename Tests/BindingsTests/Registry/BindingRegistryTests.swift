import Lua
import Testing

@testable import Bindings

@Suite struct BindingRegistryTests {
    private static let prelude = PushModule.preludes.map { String(decoding: $0.source, as: UTF8.self) }.joined()

    /// All Swift, C and Lua sources of the package, without the pages about error codes.
    private static func code() throws -> String { try PackageText.files().map(\.text).joined() }

    @Test func `every binding has a unique name`() {
        let names = BindingRegistry.standard.bindings.map(\.name)
        #expect(Set(names).count == names.count)
        for name in names { #expect(BindingRegistry.standard.binding(named: name)?.name == name) }
        #expect(BindingRegistry.standard.binding(named: "push.nothing") == nil)
    }

    @Test(arguments: BindingRegistry.standard.bindings.map(\.name))
    func `a binding has sentences, a signature and an example`(name: String) throws {
        let binding = try #require(BindingRegistry.standard.binding(named: name))
        #expect(binding.summary.last == ".")
        #expect(binding.summary.first?.isUppercase == true)
        #expect(binding.signature.hasPrefix(name))
        #expect(!binding.example.isEmpty)
        #expect(binding.example.contains(binding.shortName))
        let names = binding.parameters.map(\.name)
        #expect(Set(names).count == names.count)
        for parameter in binding.parameters {
            #expect(!parameter.summary.isEmpty)
            #expect(!parameter.type.phrase.isEmpty)
            #expect(!parameter.type.annotation.isEmpty)
            for mistaken in parameter.mistakenFor { #expect(!names.contains(mistaken)) }
        }
        let isOptional = binding.parameters.map { !$0.isRequired }
        if binding.style == .positional {
            #expect(isOptional == isOptional.sorted { !$0 && $1 }, "required parameters come first")
        }
    }

    @Test func `every example compiles as Lua`() async throws {
        let thread = LuaThread(name: "examples")
        defer { thread.stop() }
        let state = try LuaState(thread: thread)
        for binding in BindingRegistry.standard.bindings {
            try await state.compile(LuaScript(name: binding.name, source: binding.example))
        }
    }

    @Test func `every error code of a description is raised somewhere`() throws {
        var places: [String: Int] = [:]
        var raised: Set<String> = []
        // Collects every quoted text once: searching all sources for each code takes most of a minute.
        let parts = try Self.code().utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false).map { String($0) ?? "" }
        for index in parts.indices.dropFirst().dropLast() {
            let (before, code, after) = (parts[index - 1], parts[index], parts[index + 1])
            places[code, default: 0] += 1
            if before.hasSuffix("(") || before.hasSuffix(" = ") || before.hasSuffix(" ") && after == ", " { raised.insert(code) }
        }
        for binding in BindingRegistry.standard.bindings {
            for error in binding.errors {
                // Once in the list of the description, and once where it is raised.
                let listed = BindingRegistry.standard.bindings.filter { $0.errors.contains(error) }.count
                let found = places[error] ?? 0
                #expect(found > 0, "\(binding.name) lists \(error)")
                #expect(raised.contains(error) || found > listed, "\(binding.name) lists \(error), which no source raises")
            }
        }
    }

    @Test func `every binding of the prelude is defined there, and every check there has a description`() {
        for binding in BindingRegistry.standard.bindings {
            guard case .prelude = binding.body.kind, binding.receiver != "task" else { continue }
            let ways = [
                "\(binding.name) =", "function \(binding.name)(", "function host.types.\(binding.receiver ?? "").\(binding.shortName)(",
            ]
            #expect(ways.contains(where: Self.prelude.contains), "\(binding.name) is not in the prelude")
        }
        for match in Self.prelude.matches(of: /(?:checked\(|host\.check"\]\()"([a-z:._]+)"/) {
            #expect(BindingRegistry.standard.binding(named: String(match.1)) != nil, "\(match.1) has no description")
        }
        for match in Self.prelude.matches(of: /call\["(host\.[a-z_]+)"\]/) {
            #expect(
                ["Module/HostFunctions", "Plugins"].contains {
                    PackageText.text("Sources/Bindings/Push/\($0).swift").contains("\"\(match.1)\"")
                },
                "\(match.1) is not a host function"
            )
        }
    }
}
