// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "PushHost",
    products: [
        .library(name: "Lua", targets: ["Lua"])
    ],
    targets: [
        // The machine: Lua 5.4 for any Swift program. Knows nothing of push.
        .target(name: "CLua", linkerSettings: [.linkedLibrary("lua5.4")]),
        .target(name: "Lua", dependencies: ["CLua"], swiftSettings: strict),

        .testTarget(name: "LuaTests", dependencies: ["Lua", "CLua"], swiftSettings: strict),
    ]
)
