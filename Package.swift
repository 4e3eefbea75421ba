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

let package = Package(
    name: "PushHost",
    products: [
        .executable(name: "pushhost", targets: ["PushHost"]),
        .library(name: "Lua", targets: ["Lua"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
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
        .target(name: "PushCore", dependencies: [crypto, cryptoExtras], swiftSettings: strict),

        // Around the core; siblings never import each other.
        .target(
            name: "Bindings", dependencies: ["PushCore", "Lua", "LuaSyntax"],
            resources: [
                .embedInCode("Prelude/push.lua"), .embedInCode("Prelude/expectations.lua"), .embedInCode("Prelude/repl.lua"),
            ],
            swiftSettings: strict),
        .target(name: "Delivery", dependencies: ["PushCore", crypto, httpTypes, jwtKit], swiftSettings: strict),

        // The far side of the wire: imports none of ours, so that client and simulator cannot share a mistake.
        .target(name: "Simulators", dependencies: [crypto, cryptoExtras, httpTypes], swiftSettings: strict),

        // The program: the only place where concrete types meet.
        .executableTarget(
            name: "PushHost",
            dependencies: [
                "PushCore", "Lua", "LuaSyntax", "Bindings", "Delivery", "Simulators", crypto, cryptoExtras, httpTypes, argumentParser,
            ],
            resources: [
                .embedInCode("Project/welcome.lua"), .embedInCode("Project/welcome_spec.lua"), .embedInCode("Project/project.md"),
                .embedInCode("Project/luarc.json"),
            ],
            swiftSettings: strict),

        .target(name: "Support", dependencies: ["PushCore", crypto], path: "Tests/Support", swiftSettings: strict),
        .testTarget(name: "LuaTests", dependencies: ["Lua", "CLua", "EmbeddingExample"], swiftSettings: strict),
        .testTarget(name: "LuaSyntaxTests", dependencies: ["LuaSyntax", "Lua"], swiftSettings: strict),
        .testTarget(name: "PushCoreTests", dependencies: ["PushCore", "Support", crypto], swiftSettings: strict),
        .testTarget(name: "DeliveryTests", dependencies: ["Delivery", "Support", crypto, cryptoExtras, httpTypes], swiftSettings: strict),
        .testTarget(name: "SimulatorsTests", dependencies: ["Simulators", crypto, cryptoExtras, httpTypes], swiftSettings: strict),
        .testTarget(name: "BindingsTests", dependencies: ["Bindings", "Lua", "LuaSyntax", "PushCore"], swiftSettings: strict),
        .testTarget(name: "PushHostTests", dependencies: ["PushHost", "Bindings", "Lua", "PushCore"], swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
    ]
)

// The machine alone, without packages from outside: `PUSHHOST_PART=machine` for its sanitizers, `PUSHHOST_PART=bench` for its
// benchmarks.
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
