import Testing

/// Access levels of imports. A file shows no types of another module in `package` or `public` declarations without saying so.
@Suite struct ImportTests {
    /// Targets of C sources.
    private static let withoutSwift: Set<String> = ["CLua", "CPostgreSQL", "StockLua", "Heap"]
    /// The products that other packages import.
    private static let libraries: Set<String> = ["Lua", "PushHostKit"]

    @Test func `imports are internal by default in every target`() throws {
        let manifest = try Package.manifest()
        let settings = try #require(manifest.firstMatch(of: /let strict: \[SwiftSetting\] = \[(?<list>[^\]]*)\]/))
        #expect(settings.output.list.contains(".enableUpcomingFeature(\"InternalImportsByDefault\")"))
        let targets = manifest.split(separator: /\.(?:target|executableTarget|testTarget)\(/).dropFirst()
        #expect(targets.count > 30)
        for target in targets {
            let name = try #require(target.firstMatch(of: /name: "(?<name>[A-Za-z]+)"/)).output.name
            guard !Self.withoutSwift.contains(String(name)) else { continue }
            #expect(target.contains("swiftSettings: strict"), "\(name)")
        }
    }

    @Test func `only a library imports a module publicly, and none exports one`() throws {
        let files = try ["Sources", "Tests", "Benchmarks", "Examples"].flatMap { try Package.swiftFiles(in: $0) }
        for file in files {
            for line in file.code(with: ["import "]) {
                #expect(!line.text.contains("@_exported"), "\(file.path):\(line.number)")
                guard line.text.hasPrefix("public import ") else { continue }
                let module = line.text.dropFirst("public import ".count)
                #expect(Self.libraries.contains(file.target), "\(file.path):\(line.number) imports \(module) publicly")
            }
        }
    }
}
