/// The content of a notification.
package enum NotificationContent: Sendable, Equatable {
    /// Properties that fill the templates of template registrations, on every platform.
    case template([String: String])
    /// A body per platform, for native registrations.
    case native([Platform: NativePayload])

    /// Describes the content by its sizes, without any of the text sent.
    package var words: String {
        switch self {
        case .template(let properties):
            guard !properties.isEmpty else { return "templates without properties" }
            let parts = properties.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value.utf8.count) bytes)" }
            return "templates with \(parts.joined(separator: ", "))"
        case .native(let payloads):
            return payloads.sorted { $0.key < $1.key }.map { "\($0.key.displayName) \($0.value.body.count) bytes" }.joined(separator: ", ")
        }
    }
}

package struct NativePayload: Sendable, Equatable {
    package var body: [UInt8]
    package var headers: [PushHeader]

    package init(body: [UInt8], headers: [PushHeader] = []) {
        self.body = body
        self.headers = headers
    }

    /// Bytes of the names and values of all headers.
    package var headerBytes: Int { headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}
