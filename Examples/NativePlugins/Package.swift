// swift-tools-version: 6.2
import PackageDescription

// A pushhost of one's own. The path leads to PushHost; elsewhere it is a URL.
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
