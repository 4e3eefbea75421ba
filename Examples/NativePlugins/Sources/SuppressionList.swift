import Foundation
import PushHostKit

/// Skips the installations listed in a file that another system writes, one id per line. Scripts cannot read files.
struct SuppressionList: BeforeDeliverHook {
    static let name = "suppression-list"
    static let version = "1.0"
    static let summary = "Skips installations listed in a file"
    static let settings: [NativeSetting] = [
        .string("file", "file with one installation id per line"),
        .string("reason", default: "on the suppression list", "why a device is skipped, for its result and its trace"),
    ]
    /// A failure must not lead to a send to a listed device.
    static let onFailure = FailurePolicy.failClosed
    static let timeout = Duration.seconds(5)

    private let path: String
    private let reason: String

    init(_ setup: NativeSetup) throws {
        path = setup.settings.string("file") ?? ""
        reason = setup.settings.string("reason") ?? ""
        setup.log("\(try Self.read(path).count) on the list")
    }

    func beforeDeliver(_ group: DeviceGroup) async throws -> [Ruling] {
        // Read for each group, so that an added id has an immediate effect.
        let suppressed = try Self.read(path)
        if group.isDirect || suppressed.isEmpty { return [] }
        var numbers: [UInt32] = []
        for await device in group.devices where device.installationID.map(suppressed.contains) == true { numbers.append(device.number) }
        return numbers.isEmpty ? [] : [.skip(.chosen(numbers), reason: reason)]
    }

    private static func read(_ path: String) throws -> Set<String> {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw Unreadable(description: "\(path) cannot be read") }
        return Set(text.split(whereSeparator: \.isNewline).map(String.init))
    }

    private struct Unreadable: Error, CustomStringConvertible { let description: String }
}
