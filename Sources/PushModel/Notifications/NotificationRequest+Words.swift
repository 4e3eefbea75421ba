extension Audience {
    /// The audience as text for people.
    package var words: String {
        switch self {
        case .everyone: "everyone"
        case .expression(let expression): "tags \(expression.description)"
        case .device: "1 device by its handle"
        case .devices(let handles): "\(handles.count) device\(handles.count == 1 ? "" : "s") by their handles"
        }
    }
}

extension NotificationContent {
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
