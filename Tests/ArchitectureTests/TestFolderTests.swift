import Testing

/// Tests belong where their sources are: `Tests/HubWireTests/XML` has the tests of `Sources/HubWire/XML`. Suites that several
/// implementations must pass are in `Contract`, and what tests share in `Fixtures`. Tests of whole flows and of the built program are in
/// `Tests/EndToEnd`.
@Suite struct TestFolderTests {
    /// Folders of `Tests` that are not the tests of one target.
    private static let otherTargets: Set<String> = ["ArchitectureTests", "EndToEnd", "Support", "HostSupport"]
    private static let ownFolders: Set<String> = ["Contract", "Fixtures"]

    /// Folders without counterpart in the sources. The list may only shrink.
    private static let exceptions: Set<String> = [
        // Random runs of a whole hub, with faults and crashes.
        "PushHubTests/Simulation"
    ]

    @Test func `the folders of a test target are those of its sources`() throws {
        var sourceFolders: [String: Set<String>] = [:]
        for file in try Package.swiftFiles(in: "Sources") {
            for folder in file.foldersInTarget { sourceFolders[file.target, default: []].insert(folder) }
        }
        var found: Set<String> = []
        for file in try Package.swiftFiles(in: "Tests") where !Self.otherTargets.contains(file.target) {
            guard file.target.hasSuffix("Tests"), let folders = sourceFolders[String(file.target.dropLast(5))] else {
                Issue.record("\(file.path): no target of Sources has the tests \(file.target)")
                continue
            }
            let folder = file.foldersInTarget.last ?? ""
            if !folders.contains(folder), !Self.ownFolders.contains(String(folder.prefix { $0 != "/" })) {
                found.insert(folder.isEmpty ? file.path : "\(file.target)/\(folder)")
            }
        }
        for folder in found.subtracting(Self.exceptions).sorted() { Issue.record("\(folder) has no counterpart in Sources") }
        for folder in Self.exceptions.subtracting(found).sorted() {
            Issue.record("remove the exception \(folder): it is not needed any more")
        }
    }

    @Test func `contract suites are in Contract, and only there`() throws {
        for file in try Package.swiftFiles(in: "Tests") where !Self.otherTargets.contains(file.target) {
            let isInContract = file.foldersInTarget.contains("Contract")
            for line in file.code(with: ["Engine.allCases", "Side.allCases", "ContractedService.all"]) {
                #expect(isInContract, "\(file.path):\(line.number) runs over several implementations")
            }
        }
    }
}

extension Package.File {
    /// The folders from the target's folder to the file, each as a path within the target: "SQLite", "SQLite/Files". "" if the file is not
    /// in a folder.
    fileprivate var foldersInTarget: [String] {
        let parts = path.split(separator: "/").dropFirst(2).dropLast()
        guard !parts.isEmpty else { return [""] }
        return parts.indices.map { parts[...$0].joined(separator: "/") }
    }
}
