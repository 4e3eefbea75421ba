// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
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
let nioHTTPTypesHTTP2 = Target.Dependency.product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
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
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // Lua 5.4 for any Swift program, independent of push.
        .target(name: "CLua", linkerSettings: [.linkedLibrary("lua5.4")]),
        .target(name: "Lua", dependencies: ["CLua"], swiftSettings: strict),
        // The example of docs/how-to/embedding.md.
        .executableTarget(name: "EmbeddingExample", dependencies: ["Lua"], path: "Examples/Embedding", swiftSettings: strict),

        // Parses Lua 5.4 without running it: tokens, tree, scopes.
        .target(name: "LuaSyntax", swiftSettings: strict),

        // Values and contracts for the hub, the backend and everything around them. No sockets, files or interpreter.
        .target(name: "PushModel", dependencies: ["CRoaring", crypto, cryptoExtras], swiftSettings: strict),
        .systemLibrary(name: "CRoaring"),

        // The hub: registrations, targeting, sending, planning, tracing.
        .target(name: "PushHub", dependencies: ["PushModel", crypto, metrics], swiftSettings: strict),
        // The app backend: accounts, secure payloads, automation. Reaches the hub through its gateways.
        .target(name: "PushBackend", dependencies: ["PushModel", crypto, metrics], swiftSettings: strict),

        // Adapters around the model; they do not import each other.
        .target(
            name: "Bindings", dependencies: ["PushModel", "Lua", "LuaSyntax"],
            resources: [
                .embedInCode("Prelude/push.lua"), .embedInCode("Prelude/comparisons.lua"), .embedInCode("Prelude/expectations.lua"),
                .embedInCode("Prelude/properties.lua"), .embedInCode("Prelude/repl.lua"),
            ],
            swiftSettings: strict),
        .target(name: "Storage", dependencies: ["PushModel", "CMalloc", "CPostgreSQL", grdb, grdbSQLite, crypto], swiftSettings: strict),
        // PostgreSQL's client library, loaded at run time.
        .target(name: "CPostgreSQL"),
        .systemLibrary(name: "CMalloc"),
        .target(
            name: "Delivery",
            dependencies: [
                "PushModel", "CNGHTTP2", crypto, cryptoExtras, httpTypes, jwtKit, asyncHTTPClient, nioCore, nioPosix, nioTLS, nioHTTP1,
                nioSSL, x509, asn1,
            ],
            swiftSettings: strict),
        .systemLibrary(name: "CNGHTTP2"),
        .systemLibrary(name: "CExpat", pkgConfig: "expat"),
        // Encodes and decodes the hub's documents and tokens, for servers and clients.
        .target(name: "HubWire", dependencies: ["PushModel", "CExpat", crypto], swiftSettings: strict),
        .target(
            name: "RemoteHub",
            dependencies: ["PushModel", "HubWire", asyncHTTPClient, nioCore, nioHTTP1, nioSSL], swiftSettings: strict),
        .target(
            name: "WebAPI",
            dependencies: [
                "PushModel", "PushHub", "PushBackend", "HubWire", crypto, jwtKit, httpTypes, hummingbird, hummingbirdCore, hummingbirdHTTP2,
                serviceLifecycle, logging,
                metrics,
                nioCore, nioHTTP1, nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP1, nioSSL,
            ],
            swiftSettings: strict),

        // Simulated push services. Imports no target of this package, so that client and simulator cannot share a mistake.
        .target(
            name: "Simulators",
            dependencies: [
                "CNGHTTP2", crypto, cryptoExtras, httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioPosix, nioTLS, nioHTTP1,
                nioSSL, x509, asn1,
            ],
            swiftSettings: strict),

        // What a process has of its machine: clocks, randomness, files, environment, signals, threads.
        .target(name: "PushRuntime", dependencies: ["PushModel", "CMalloc", logging, yams], swiftSettings: strict),

        // Rehearsals: a world in one process, the lab of a server, the scripts and targets of runs.
        .target(
            name: "PushLab",
            dependencies: [
                "PushRuntime", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua", "RemoteHub", "Simulators",
                "Storage", crypto, cryptoExtras, httpTypes, hummingbird, logging, nioCore, nioSSL, serviceLifecycle, yams,
            ],
            swiftSettings: strict),

        // A server put together: settings, credentials, hubs, plugins, flows, metrics.
        .target(
            name: "PushServer",
            dependencies: [
                "PushRuntime", "PushLab", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua", "RemoteHub",
                "Simulators", "Storage", "WebAPI", asyncHTTPClient, coreMetrics, crypto, httpTypes, hummingbird, logging, metrics, nioCore,
                nioHTTP1, nioSSL, serviceLifecycle, x509, asn1, yams,
            ],
            swiftSettings: strict),

        // The command line: commands, reports, the prompt, the doctor.
        .target(
            name: "PushHost",
            dependencies: [
                "PushRuntime", "PushLab", "PushServer", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua",
                "LuaSyntax", "RemoteHub", "Simulators", "Storage", "WebAPI", argumentParser, asyncHTTPClient, coreMetrics, crypto, logging,
                nioCore, nioHTTP1, nioSSL, serviceLifecycle, x509, asn1,
            ],
            resources: [
                .embedInCode("Project/welcome.lua"), .embedInCode("Project/welcome_spec.lua"), .embedInCode("Project/project.md"),
                .embedInCode("Project/luarc.json"), .embedInCode("Project/plugin.lua"), .embedInCode("Project/plugin_spec.lua"),
            ],
            swiftSettings: strict),

        // The library for programs that add functions and plugins in Swift, and the program itself, which adds none.
        .target(name: "PushHostKit", dependencies: ["PushHost", "Bindings", "Lua", "PushModel"], swiftSettings: strict),
        .executableTarget(name: "Program", dependencies: ["PushHostKit"], swiftSettings: strict),

        // Fixtures of several test targets.
        .target(
            name: "Support", dependencies: ["PushModel", "PushHub", "PushBackend", "Storage", crypto], path: "Tests/Support",
            swiftSettings: strict),
        // Fixtures for tests of the program's outer targets: rehearsals of flows, certificates.
        .target(
            name: "HostSupport", dependencies: ["Bindings", "Lua", "PushLab", "PushModel", crypto, x509, asn1],
            path: "Tests/HostSupport", swiftSettings: strict),
        .testTarget(name: "LuaTests", dependencies: ["Lua", "CLua", "EmbeddingExample"], swiftSettings: strict),
        .testTarget(name: "LuaSyntaxTests", dependencies: ["LuaSyntax", "Lua"], swiftSettings: strict),
        .testTarget(name: "PushModelTests", dependencies: ["PushModel", "PushHub", "Support"], swiftSettings: strict),
        .testTarget(
            name: "PushHubTests", dependencies: ["PushHub", "PushModel", "PushBackend", "Storage", "Support"], swiftSettings: strict),
        .testTarget(
            name: "PushBackendTests", dependencies: ["PushBackend", "Bindings", "PushHub", "PushModel", "Storage", "Support", crypto],
            swiftSettings: strict),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Delivery", "PushModel", "Storage", "Support", "CNGHTTP2", crypto, cryptoExtras, httpTypes, nioCore, nioEmbedded, nioPosix,
                nioTLS, nioSSL, x509,
                asn1,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StorageTests", dependencies: ["Storage", "PushModel", "PushHub", "Support", grdb, crypto],
            exclude: ["Fixtures/Versions"], swiftSettings: strict),
        .testTarget(
            name: "WebAPITests",
            dependencies: [
                "WebAPI", "HubWire", "Storage", "PushModel", "PushHub", "PushBackend", "Support", crypto, cryptoExtras, httpTypes,
                hummingbirdCore, logging, nioCore, nioEmbedded, nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP2, nioPosix, serviceLifecycle,
            ],
            swiftSettings: strict),
        .testTarget(name: "HubWireTests", dependencies: ["HubWire", "PushModel", "Support"], swiftSettings: strict),
        .testTarget(
            name: "RemoteHubTests",
            dependencies: [
                "RemoteHub", "Bindings", "HubWire", "WebAPI", "Storage", "PushModel", "PushHub", "PushBackend", "Support", hummingbirdCore,
                logging,
                nioCore, nioHTTP1, nioPosix,
                serviceLifecycle,
            ], swiftSettings: strict),
        .testTarget(
            name: "SimulatorsTests",
            dependencies: ["Simulators", "CNGHTTP2", crypto, cryptoExtras, httpTypes, hummingbirdCore, nioCore, nioPosix, nioSSL],
            swiftSettings: strict),
        .testTarget(
            name: "BindingsTests",
            dependencies: ["Bindings", "Lua", "LuaSyntax", "PushModel", "PushHub", "PushBackend", "Storage", "Support", "HostSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PushRuntimeTests", dependencies: ["PushRuntime", "PushModel", "Support"], swiftSettings: strict),
        .testTarget(
            name: "PushLabTests",
            dependencies: ["PushLab", "PushRuntime", "PushModel", "Delivery", "Lua", "RemoteHub", "Simulators", "Support", nioCore],
            swiftSettings: strict),
        .testTarget(
            name: "PushServerTests",
            dependencies: [
                "PushServer", "PushLab", "PushRuntime", "PushModel", "PushHub", "PushBackend", "Bindings", "Delivery", "HubWire", "Lua",
                "RemoteHub", "Simulators", "Storage", "WebAPI", "Support", "HostSupport", coreMetrics, crypto, cryptoExtras, grdbSQLite,
                httpTypes, hummingbird, logging, serviceLifecycle, x509, asn1,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PushHostTests",
            dependencies: [
                "PushHost", "PushServer", "PushLab", "PushModel", "Bindings", "Lua", "Support", "HostSupport", argumentParser, crypto,
            ],
            swiftSettings: strict),
        // Whole flows, and the built program in its own process. Makefile and CI select these suites for the installed program.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Program", "PushHost", "PushServer", "PushLab", "PushRuntime", "PushModel", "PushHub", "Bindings", "Delivery", "HubWire",
                "Lua", "Simulators", "Storage", "WebAPI", "Support", "HostSupport", crypto, cryptoExtras, grdbSQLite, httpTypes,
                hummingbird, logging, serviceLifecycle,
            ],
            path: "Tests/EndToEnd", exclude: ["Clients"], swiftSettings: strict),
        .testTarget(
            name: "PushHostKitTests", dependencies: ["PushHostKit", "Bindings", "Lua", "PushModel", "Support"], swiftSettings: strict),
        .testTarget(
            name: "ArchitectureTests", exclude: ["comparisons.py", "measure.py", "pages.py", "rebuild.py", "words.py", "exceptions.json"],
            swiftSettings: strict),
    ]
)

// Partial packages. `PUSHHOST_PART=machine`: the Lua targets without external packages, for sanitizers; `bench`: their benchmarks;
// `bench-storage`: the hub and its storage; `bench-hub`: the hub alone; `bench-delivery`: the hub, storage and delivery;
// `bench-plugins`: the hub and plugins, without a server.
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
    package.targets = package.targets.filter {
        ["PushModel", "PushHub", "CRoaring", "CMalloc", "CPostgreSQL", "Storage"].contains($0.name)
    }
    package.targets.append(
        .executableTarget(
            name: "StorageBenchmark", dependencies: ["PushModel", "PushHub", "Storage", grdbSQLite], path: "Benchmarks/Storage",
            swiftSettings: strict))
}
if part == "bench-delivery" {
    package.products = []
    package.targets = package.targets.filter {
        ["PushModel", "PushHub", "CRoaring", "CMalloc", "CPostgreSQL", "CNGHTTP2", "Delivery", "Storage"].contains($0.name)
    }
    package.targets.append(
        .executableTarget(
            name: "DeliveryBenchmark", dependencies: ["PushModel", "PushHub", "Delivery", "Storage"], path: "Benchmarks/Delivery/Program",
            swiftSettings: strict))
}
if part == "bench-plugins" {
    package.products = []
    package.targets = package.targets.filter {
        ["PushModel", "PushHub", "CRoaring", "CMalloc", "CPostgreSQL", "CLua", "Lua", "LuaSyntax", "Bindings", "Storage"].contains($0.name)
    }
    package.targets.append(
        .executableTarget(
            name: "PluginBenchmark", dependencies: ["PushModel", "PushHub", "Lua", "Bindings", "Storage"],
            path: "Benchmarks/Plugins/Program",
            swiftSettings: strict))
}
if part == "bench-hub" {
    package.products = []
    package.targets = package.targets.filter { ["PushModel", "PushHub", "CRoaring"].contains($0.name) }
    package.targets += [
        .target(name: "Heap", path: "Benchmarks/Hub/Heap"),
        .executableTarget(
            name: "HubBenchmark", dependencies: ["PushModel", "PushHub", "Heap"], path: "Benchmarks/Hub/Program", swiftSettings: strict),
    ]
}

// Selected tests with their dependencies: `PUSHHOST_TESTS=DeliveryTests,PushHubTests swift test` builds nothing else.
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
