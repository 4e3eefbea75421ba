import Crypto
package import PushModel

/// A credential in the settings, for hubs without their own.
package protocol CredentialSource: Sendable {
    var kind: PlatformCredential.Kind { get }
    /// Whether the settings contain this credential.
    var isGiven: Bool { get }
    /// The name of the setting.
    var setting: String { get }
    /// The files that contain it.
    var files: [String?] { get }
    /// Reads the files. Throws `credential.invalid`, which names the file.
    func sender() throws(PushError) -> SenderSettings
}

extension CredentialSource {
    /// A hash of the files' contents. Also changes when a file appears or disappears.
    var fingerprint: [UInt8] {
        var hash = SHA256()
        for path in files {
            let bytes = path.flatMap { try? CredentialFile.read($0) }
            hash.update(data: Array("\(bytes?.count ?? -1) ".utf8) + (bytes ?? []))
        }
        return Array(hash.finalize())
    }
}
