/// The content of a notification.
package enum NotificationContent: Sendable, Equatable {
    /// Properties that fill the templates of template registrations, on every platform.
    case template([String: String])
    /// A body per platform, for native registrations.
    case native([Platform: NativePayload])
}

package struct NativePayload: Sendable, Equatable {
    package var body: [UInt8]
    package var headers: [PushHeader]

    package init(body: [UInt8], headers: [PushHeader] = []) {
        self.body = body
        self.headers = headers
    }
}
