// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdHTTP2 = Target.Dependency.product(name: "HummingbirdHTTP2", package: "hummingbird")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
    name: "PushHost",
    products: [
        .executable(name: "pushhost", targets: ["Program"]),
        .library(name: "Lua", targets: ["Lua"]),
        .library(name: "PushHostKit", targets: ["PushHostKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // The machine: Lua 5.4 for any Swift program. Knows nothing of push.
        .target(name: "CLua", linkerSettings: [.linkedLibrary("lua5.4")]),
        .target(name: "Lua", dependencies: ["CLua"], swiftSettings: strict),
        // The example of docs/embedding.md.
        .executableTarget(name: "EmbeddingExample", dependencies: ["Lua"], path: "Examples/Embedding", swiftSettings: strict),

        // Reads Lua 5.4 without running it: words, tree, scopes.
        .target(name: "LuaSyntax", swiftSettings: strict),

        // The hub and the app backend: no sockets, no files, no interpreter.
        .target(name: "PushCore", dependencies: ["CRoaring", crypto, cryptoExtras, metrics], swiftSettings: strict),
        .systemLibrary(name: "CRoaring"),

        // Around the core; siblings never import each other.
        .target(
            name: "Bindings", dependencies: ["PushCore", "Lua", "LuaSyntax"],
            resources: [
                .embedInCode("Prelude/push.lua"), .embedInCode("Prelude/expectations.lua"), .embedInCode("Prelude/repl.lua"),
            ],
            swiftSettings: strict),
        .target(name: "Storage", dependencies: ["PushCore", "CMalloc", grdb, grdbSQLite, crypto], swiftSettings: strict),
        .systemLibrary(name: "CMalloc"),
        .target(
            name: "Delivery",
            dependencies: [
                "PushCore", "CNGHTTP2", crypto, cryptoExtras, httpTypes, jwtKit, asyncHTTPClient, nioCore, nioPosix, nioTLS, nioHTTP1,
                nioSSL, x509, asn1,
            ],
            swiftSettings: strict),
        .systemLibrary(name: "CNGHTTP2"),
        .systemLibrary(name: "CExpat", pkgConfig: "expat"),
        // The hub's documents and tokens as bytes, for those who serve them and those who ask for them.
        .target(name: "HubWire", dependencies: ["PushCore", "CExpat", crypto], swiftSettings: strict),
        .target(
            name: "RemoteHub",
            dependencies: ["PushCore", "HubWire", asyncHTTPClient, nioCore, nioHTTP1, nioSSL], swiftSettings: strict),
        .target(
            name: "WebAPI",
            dependencies: [
                "PushCore", "HubWire", crypto, jwtKit, httpTypes, hummingbird, hummingbirdCore, hummingbirdHTTP2, serviceLifecycle, logging,
                metrics,
                nioCore, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1, nioSSL,
                x509, asn1,
            ],
            swiftSettings: strict),

        // The far side of the wire: imports none of ours, so that client and simulator cannot share a mistake.
        .target(
            name: "Simulators",
            dependencies: [
                "CNGHTTP2", crypto, cryptoExtras, httpTypes, hummingbird, logging, nioCore, nioPosix, nioTLS, nioHTTP1, nioSSL, x509, asn1,
            ],
            swiftSettings: strict),

        // All that the program does: the only place where concrete types meet.
        .target(
            name: "PushHost",
            dependencies: [
                "PushCore", "Lua", "LuaSyntax", "Bindings", "Storage", "Delivery", "HubWire", "RemoteHub", "WebAPI", "Simulators",
                "CMalloc", crypto,
                cryptoExtras, httpTypes, argumentParser, asyncHTTPClient, coreMetrics, logging, metrics, nioCore, nioHTTP1, nioSSL,
                serviceLifecycle,
                hummingbird,
                x509,
                asn1, yams,
            ],
            resources: [
                .embedInCode("Project/welcome.lua"), .embedInCode("Project/welcome_spec.lua"), .embedInCode("Project/project.md"),
                .embedInCode("Project/luarc.json"), .embedInCode("Project/plugin.lua"), .embedInCode("Project/plugin_spec.lua"),
            ],
            swiftSettings: strict),

        // What programs are made of that add functions and plugins in Swift, and the program itself, which adds none.
        .target(name: "PushHostKit", dependencies: ["PushHost", "Bindings", "Lua", "PushCore"], swiftSettings: strict),
        .executableTarget(name: "Program", dependencies: ["PushHostKit"], swiftSettings: strict),

        .target(name: "Support", dependencies: ["PushCore", "Storage", crypto], path: "Tests/Support", swiftSettings: strict),
        .testTarget(name: "LuaTests", dependencies: ["Lua", "CLua", "EmbeddingExample"], swiftSettings: strict),
        .testTarget(name: "LuaSyntaxTests", dependencies: ["LuaSyntax", "Lua"], swiftSettings: strict),
        .testTarget(name: "PushCoreTests", dependencies: ["PushCore", "Storage", "Support", crypto], swiftSettings: strict),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Delivery", "Support", "CNGHTTP2", crypto, cryptoExtras, httpTypes, nioCore, nioEmbedded, nioPosix, nioTLS, nioSSL, x509,
                asn1,
            ],
            swiftSettings: strict),
        .testTarget(name: "StorageTests", dependencies: ["Storage", "PushCore", "Support", grdb, crypto], swiftSettings: strict),
        .testTarget(
            name: "WebAPITests",
            dependencies: [
                "WebAPI", "HubWire", "Storage", "PushCore", "Support", crypto, cryptoExtras, httpTypes, hummingbirdCore, logging, nioCore,
                nioPosix, serviceLifecycle,
            ],
            swiftSettings: strict),
        .testTarget(name: "HubWireTests", dependencies: ["HubWire", "PushCore", "Support"], swiftSettings: strict),
        .testTarget(
            name: "RemoteHubTests",
            dependencies: [
                "RemoteHub", "HubWire", "WebAPI", "Storage", "PushCore", "Support", hummingbirdCore, logging, nioCore, nioHTTP1, nioPosix,
                serviceLifecycle,
            ], swiftSettings: strict),
        .testTarget(
            name: "SimulatorsTests",
            dependencies: ["Simulators", "CNGHTTP2", crypto, cryptoExtras, httpTypes, nioCore, nioPosix, nioSSL, x509],
            swiftSettings: strict),
        .testTarget(
            name: "BindingsTests", dependencies: ["Bindings", "Lua", "LuaSyntax", "PushCore", "Storage", "Support"], swiftSettings: strict),
        .testTarget(
            name: "PushHostTests",
            dependencies: [
                "Program", "PushHost", "Bindings", "Delivery", "HubWire", "Lua", "PushCore", "PushHostKit", "RemoteHub", "Simulators",
                "Storage",
                "Support", "WebAPI", argumentParser,
                crypto, grdbSQLite, httpTypes, nioCore,
                coreMetrics, x509,
                asn1, hummingbird, logging, serviceLifecycle,
            ],
            exclude: ["Clients"], swiftSettings: strict),
        .testTarget(
            name: "PushHostKitTests", dependencies: ["PushHostKit", "Bindings", "Lua", "PushCore", "Support"], swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", exclude: ["measure.py"], swiftSettings: strict),
    ]
)

// The machine alone, without packages from outside: `PUSHHOST_PART=machine` for its sanitizers, `PUSHHOST_PART=bench` for its
// benchmarks. `PUSHHOST_PART=bench-storage`: the hub and what it keeps, for their benchmark. `PUSHHOST_PART=bench-hub`: the hub alone.
// `PUSHHOST_PART=bench-plugins`: the hub and plugins, without a server.
let part = Context.environment["PUSHHOST_PART"]
if part == "machine" || part == "bench" {
    package.products = [.library(name: "Lua", targets: ["Lua"])]
    package.dependencies = []
    package.targets = package.targets.filter { ["CLua", "Lua", "EmbeddingExample", "LuaTests"].contains($0.name) }
}
if part == "bench" {
    package.targets = package.targets.filter { !$0.isTest }
    package.targets += [
        .target(name: "StockLua", path: "Benchmarks/Lua/Stock", linkerSettings: [.linkedLibrary("lua5.4")]),
        .executableTarget(
            name: "LuaBenchmark", dependencies: ["Lua", "CLua", "StockLua"], path: "Benchmarks/Lua/Program", swiftSettings: strict),
    ]
}
if part == "bench-storage" {
    package.products = []
    package.targets = package.targets.filter { ["PushCore", "CRoaring", "CMalloc", "Storage"].contains($0.name) }
    package.targets.append(
        .executableTarget(
            name: "StorageBenchmark", dependencies: ["PushCore", "Storage", grdbSQLite], path: "Benchmarks/Storage", swiftSettings: strict))
}
if part == "bench-delivery" {
    package.products = []
    package.targets = package.targets.filter { ["PushCore", "CRoaring", "CMalloc", "CNGHTTP2", "Delivery", "Storage"].contains($0.name) }
    package.targets.append(
        .executableTarget(
            name: "DeliveryBenchmark", dependencies: ["PushCore", "Delivery", "Storage"], path: "Benchmarks/Delivery/Program",
            swiftSettings: strict))
}
if part == "bench-plugins" {
    package.products = []
    package.targets = package.targets.filter {
        ["PushCore", "CRoaring", "CMalloc", "CLua", "Lua", "LuaSyntax", "Bindings", "Storage"].contains($0.name)
    }
    package.targets.append(
        .executableTarget(
            name: "PluginBenchmark", dependencies: ["PushCore", "Lua", "Bindings", "Storage"], path: "Benchmarks/Plugins/Program",
            swiftSettings: strict))
}
if part == "bench-hub" {
    package.products = []
    package.targets = package.targets.filter { ["PushCore", "CRoaring"].contains($0.name) }
    package.targets += [
        .target(name: "Heap", path: "Benchmarks/Hub/Heap"),
        .executableTarget(
            name: "HubBenchmark", dependencies: ["PushCore", "Heap"], path: "Benchmarks/Hub/Program", swiftSettings: strict),
    ]
}

// Some tests alone, with what they need: `PUSHHOST_TESTS=DeliveryTests,PushCoreTests swift test` builds no more than that.
if let names = Context.environment["PUSHHOST_TESTS"]?.split(separator: ",").map(String.init) {
    var needed = Set(names)
    var isGrowing = true
    while isGrowing {
        let before = needed.count
        for target in package.targets where needed.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
        }
        isGrowing = needed.count > before
    }
    package.products = []
    package.targets = package.targets.filter { needed.contains($0.name) }
}
