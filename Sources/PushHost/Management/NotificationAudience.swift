import PushModel

/// The audience of a notification, as the JSON API reports it.
struct NotificationAudience {
    private let notification: JSON

    init(_ notification: JSON) { self.notification = notification }

    /// The tag expression, the number of handles of a direct send, or everyone.
    var text: String {
        if let tags = notification["tagExpression"]?.string { return tags }
        // Servers before 1.0 do not report handles.
        guard let handles = notification["handles"]?.int else { return "everyone" }
        return handles == 1 ? "1 handle" : "\(handles) handles"
    }
}
