// swift-tools-version: 6.2
import PackageDescription

// An extended pushhost. The path leads to PushHost; in your own repository, use its URL.
let package = Package(
    name: "our-pushhost",
    dependencies: [.package(name: "PushHost", path: "../..")],
    targets: [
        .executableTarget(
            name: "our-pushhost",
            dependencies: [.product(name: "PushHostKit", package: "PushHost"), .product(name: "Lua", package: "PushHost")],
            path: "Sources")
    ]
)
