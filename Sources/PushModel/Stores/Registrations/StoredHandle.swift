/// A stored handle as its columns. The buffer is valid only during the reader's call.
package struct StoredHandle {
    package let platform: Platform
    /// The handle as one text; the parts of a browser's subscription or a Baidu handle are separated by line breaks.
    package let text: UnsafeRawBufferPointer

    package init(platform: Platform, text: UnsafeRawBufferPointer) {
        self.platform = platform
        self.text = text
    }
}
