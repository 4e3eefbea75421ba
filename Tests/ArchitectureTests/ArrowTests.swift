import Testing

/// Arrows point inward: what each target may import, of ours and from outside.
@Suite struct ArrowTests {
    private static let ours: Set<String> = [
        "CLua", "Lua", "LuaSyntax", "PushModel", "PushHub", "PushBackend", "Bindings", "Storage", "Delivery", "CExpat", "HubWire",
        "RemoteHub", "WebAPI", "Simulators", "PushRuntime", "PushLab", "PushServer", "PushHost", "PushHostKit", "Program", "CRoaring",
        "CNGHTTP2", "CMalloc", "CPostgreSQL",
    ]
    private static let system: Set<String> = ["Glibc", "Synchronization", "Dispatch"]
    private static let allowed: [String: Set<String>] = [
        "CLua": [],
        "Lua": ["CLua"],
        "LuaSyntax": [],
        "CRoaring": [],
        "PushModel": ["CRoaring", "Crypto", "CryptoExtras", "FoundationEssentials"],
        "PushHub": ["PushModel", "Crypto", "Metrics"],
        "PushBackend": ["PushModel", "Crypto", "Metrics"],
        "Bindings": ["PushModel", "Lua", "LuaSyntax"],
        "CMalloc": [],
        "CPostgreSQL": [],
        "Storage": ["PushModel", "CMalloc", "CPostgreSQL", "GRDB", "GRDBSQLite", "Crypto", "FoundationEssentials"],
        "Delivery": [
            "PushModel", "CNGHTTP2", "Crypto", "CryptoExtras", "HTTPTypes", "JWTKit", "AsyncHTTPClient", "NIOCore", "NIOPosix", "NIOTLS",
            "NIOHTTP1", "NIOSSL", "X509", "SwiftASN1", "FoundationEssentials",
        ],
        "CNGHTTP2": [],
        "CExpat": [],
        "HubWire": ["PushModel", "CExpat", "Crypto", "FoundationEssentials"],
        "RemoteHub": ["PushModel", "HubWire", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOSSL", "FoundationEssentials"],
        "WebAPI": [
            "PushModel", "PushHub", "PushBackend", "HubWire", "Crypto", "JWTKit", "HTTPTypes", "Hummingbird", "HummingbirdCore",
            "HummingbirdHTTP2",
            "ServiceLifecycle",
            "Logging", "Metrics", "NIOCore", "NIOHTTP1", "NIOHTTP2", "NIOHTTPTypes", "NIOHTTPTypesHTTP1",
            "NIOSSL", "FoundationEssentials",
        ],
        "Simulators": [
            "CNGHTTP2", "Crypto", "CryptoExtras", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOPosix", "NIOTLS",
            "NIOHTTP1", "NIOSSL", "X509", "SwiftASN1", "FoundationEssentials",
        ],
        "PushRuntime": ["PushModel", "CMalloc", "Logging", "Yams", "FoundationEssentials"],
        "PushLab": [
            "PushRuntime", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua", "RemoteHub", "Simulators",
            "Storage", "Crypto", "CryptoExtras", "HTTPTypes", "Hummingbird", "Logging", "NIOCore", "NIOSSL", "ServiceLifecycle", "Yams",
        ],
        "PushServer": [
            "PushRuntime", "PushLab", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua", "RemoteHub",
            "Simulators", "Storage", "WebAPI", "AsyncHTTPClient", "CoreMetrics", "Crypto", "HTTPTypes", "Hummingbird", "Logging", "Metrics",
            "NIOCore", "NIOHTTP1", "NIOSSL", "ServiceLifecycle", "X509", "SwiftASN1", "Yams", "FoundationEssentials",
        ],
        "PushHost": [
            "PushRuntime", "PushLab", "PushServer", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua",
            "LuaSyntax", "RemoteHub", "Simulators", "Storage", "WebAPI", "ArgumentParser", "AsyncHTTPClient", "CoreMetrics", "Crypto",
            "Logging", "NIOCore", "NIOHTTP1", "NIOSSL", "ServiceLifecycle", "X509", "SwiftASN1", "FoundationEssentials",
        ],
        "PushHostKit": ["PushHost", "Bindings", "Lua", "PushModel"],
        "Program": ["PushHostKit"],
    ]

    @Test func `every file imports only what its target may`() throws {
        let files = try Package.swiftFiles(in: "Sources")
        #expect(files.count > 50)
        for file in files {
            let allowed = try #require(Self.allowed[file.target], "\(file.target) has no row in the table")
            for module in file.imports where !allowed.contains(module) && !Self.system.contains(module) {
                Issue.record("\(file.path) imports \(module)")
            }
        }
    }

    @Test func `no target may import what none of its files imports`() throws {
        let files = Dictionary(grouping: try Package.swiftFiles(in: "Sources"), by: \.target)
        for (target, allowed) in Self.allowed {
            let unused = allowed.subtracting((files[target] ?? []).flatMap(\.imports))
            #expect(unused.isEmpty, "\(target) imports no \(unused.sorted().joined(separator: ", "))")
        }
    }

    @Test func `the manifest gives no target a dependency of ours that its imports may not have`() throws {
        let manifest = try Package.manifest()
        for (target, allowed) in Self.allowed {
            let entry = try #require(
                manifest.firstRange(of: "arget(name: \"\(target)\"") ?? manifest.firstRange(of: "Library(name: \"\(target)\"")
                    ?? manifest.firstRange(of: "name: \"\(target)\", dependencies")
                    ?? manifest.ranges(of: "name: \"\(target)\",").last, "\(target) is not in the manifest")
            let rest = manifest[entry.upperBound...]
            let description = rest.prefix(upTo: rest.firstRange(of: "arget(")?.lowerBound ?? rest.endIndex)
            guard let open = description.firstRange(of: "dependencies: ["),
                let close = description[open.upperBound...].firstIndex(of: "]")
            else { continue }
            let named = description[open.upperBound..<close].matches(of: /"([A-Za-z]+)"/).map { String($0.1) }
            for name in named where Self.ours.contains(name) {
                #expect(allowed.contains(name), "\(target) depends on \(name)")
            }
        }
    }

    /// The sides of the wire that each target knows. All meet in `PushLab`, `PushServer` and `PushHost`.
    private static let sides: [String: Set<String>] = [
        "PushLab": ["Bindings", "Delivery", "Simulators"], "PushServer": ["Bindings", "Delivery", "Simulators"],
        "PushHost": ["Bindings", "Delivery", "Simulators"], "PushHostKit": ["Bindings"],
    ]

    @Test func `no other target knows a side of the wire`() throws {
        for file in try Package.swiftFiles(in: "Sources") {
            let known = Set(file.imports).intersection(["Bindings", "Delivery", "Simulators"])
            #expect(known.isSubset(of: Self.sides[file.target] ?? []), "\(file.path)")
        }
    }
}
