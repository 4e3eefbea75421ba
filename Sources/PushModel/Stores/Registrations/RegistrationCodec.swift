/// Reads and writes registrations in the files of jobs, one per line.
package protocol RegistrationCodec: Sendable {
    /// Maximum length of a line, in bytes.
    var maximumSize: Int { get }
    /// One line without line breaks.
    func line(_ registration: Registration) -> [UInt8]
    /// The id in a line, if any; the rest of the registration may be missing. Throws for an unreadable line.
    func id(of line: [UInt8]) throws(PushError) -> RegistrationID?
    /// Throws like `id(of:)`, and for an invalid registration.
    func registration(of line: [UInt8]) throws(PushError) -> (id: RegistrationID?, description: RegistrationDescription)
}
