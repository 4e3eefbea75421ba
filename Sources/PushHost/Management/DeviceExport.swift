import HubWire
import PushModel

/// Writes the devices of a hub as the lines of a file, in the formats that `DeviceLineParser` reads.
struct DeviceExport {
    /// The number of devices written, and of those that the format cannot represent.
    struct Summary: Sendable, Equatable {
        var written = 0
        /// Installations, which the lines of Azure's jobs cannot represent.
        var left = 0
    }

    let format: DeviceLineParser.Format
    /// Reads a page of the export, by its query.
    let get: (_ query: [(String, String?)]) async throws(PushError) -> JSON

    /// Devices per page.
    private static let page = 1000

    /// - Parameters:
    ///   - line: receives each line, without its end.
    ///   - progress: called after each page.
    func write(
        to line: (String) throws(PushError) -> Void, progress: (Summary) -> Void
    ) async throws(PushError) -> Summary {
        var summary = Summary()
        if format == .csv { try line(CSVLine.example) }
        var continuation: String?
        repeat {
            let page = try await get([("top", String(Self.page)), ("continuation", continuation)])
            for item in page["items"]?.array ?? [] {
                if let text = try text(of: item) {
                    try line(text)
                    summary.written += 1
                } else {
                    summary.left += 1
                }
            }
            progress(summary)
            if Task.isCancelled { throw PushError("cancelled", "the export was interrupted; no file was written", hint: "repeat it") }
            continuation = page["continuation"]?.string
        } while continuation != nil
        return summary
    }

    /// The line of a device; nil if the format cannot represent it.
    private func text(of item: JSON) throws(PushError) -> String? {
        let registration = item["registration"]?.string
        switch format {
        case .azure: return registration
        case .ndjson: return registration == nil ? item["installation"]?.text() : item.text()
        case .csv:
            guard let registration else { return csv(item["installation"] ?? .null) }
            let description = try RegistrationXMLReader.description(body: Array(registration.utf8))
            let handle = description.handle
            return CSVLine.line([
                "", handle.platform.shortName, Self.token(handle), "", description.tags.map(\.text).joined(separator: " "),
            ])
        }
    }

    private func csv(_ installation: JSON) -> String {
        let platform = installation["platform"]?.string ?? ""
        let channel = installation["pushChannel"]
        return CSVLine.line([
            installation["installationId"]?.string ?? "", Platform(name: platform)?.shortName ?? platform,
            channel?.string ?? channel?.text() ?? "", installation["userId"]?.string ?? "",
            (installation["tags"]?.array ?? []).compactMap(\.string).joined(separator: " "),
        ])
    }

    private static func token(_ handle: DeviceHandle) -> String {
        guard case .browser(let endpoint, let p256dh, let auth) = handle else { return handle.text }
        let subscription: JSON = ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
        return subscription.text()
    }
}
