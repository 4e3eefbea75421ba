import Foundation
import PushHostKit

/// Leaves out installations that a file names, one a line, which another system writes: scripts cannot read files.
struct SuppressionList: BeforeDeliverHook {
    static let name = "suppression-list"
    static let version = "1.0"
    static let summary = "Installations that a file names get nothing"
    static let settings: [NativeSetting] = [
        .string("file", "one id of an installation a line"),
        .string("reason", default: "on the suppression list", "why, for whoever asks what became of a device"),
    ]
    /// Who is on the list must not get anything by accident.
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
        // Read each time: whoever asks to be left alone is left alone at once.
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
