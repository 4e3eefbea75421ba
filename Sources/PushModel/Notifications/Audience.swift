/// The recipients of a notification. There is no default: a send to everyone must say so.
package enum Audience: Sendable, Equatable {
    case expression(TagExpression)
    case everyone
    /// One handle, without a registration.
    case device(DeviceHandle)
    /// Several handles, without registrations.
    case devices([DeviceHandle])

    /// Maximum number of handles per send.
    package static let maximumDevices = 1000

    /// The tag expression; nil for everyone and for handles.
    package var expression: TagExpression? {
        if case .expression(let expression) = self { expression } else { nil }
    }

    /// The handles of a direct send; empty for other audiences.
    package var handles: [DeviceHandle] {
        switch self {
        case .device(let handle): [handle]
        case .devices(let handles): handles
        case .expression, .everyone: []
        }
    }

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
