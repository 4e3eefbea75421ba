/// A stored registration as its columns. The buffers are valid only during the reader's call.
package struct StoredRegistration {
    package let row: UInt32
    package let id: UnsafeRawBufferPointer
    package let handle: StoredHandle
    /// Separated by commas.
    package let tags: UnsafeRawBufferPointer
    /// The same for registrations with the same template; nil without a template.
    package let templateKey: Int64?
    package let pushVariables: [String: String]
    package let installationID: String?
    package let expiration: Timestamp

    package init(
        row: UInt32, id: UnsafeRawBufferPointer, handle: StoredHandle, tags: UnsafeRawBufferPointer, templateKey: Int64?,
        pushVariables: [String: String], installationID: String?, expiration: Timestamp
    ) {
        self.row = row
        self.id = id
        self.handle = handle
        self.tags = tags
        self.templateKey = templateKey
        self.pushVariables = pushVariables
        self.installationID = installationID
        self.expiration = expiration
    }
}
