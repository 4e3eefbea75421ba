/// How registrations are written in the files of jobs: one a line.
package protocol RegistrationCodec: Sendable {
    /// The longest line that is read, in bytes.
    var maximumSize: Int { get }
    /// Without a line's end, also inside.
    func line(_ registration: Registration) -> [UInt8]
    /// The id that a line names, if any; nothing else of it need be there. Throws what a line that cannot be read throws.
    func id(of line: [UInt8]) throws(PushError) -> RegistrationID?
    /// Throws as `id(of:)`, and what is wrong with the registration.
    func registration(of line: [UInt8]) throws(PushError) -> (id: RegistrationID?, description: RegistrationDescription)
}
