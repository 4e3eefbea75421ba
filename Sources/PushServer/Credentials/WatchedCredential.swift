import PushModel
import Synchronization

/// A credential from the settings whose files are watched. If changed files cannot be used, the previous credential stays in use.
final class WatchedCredential: Sendable {
    enum Change: Sendable {
        case none
        case renewed(SenderSettings)
        /// The new files cannot be used; `hasPrevious`: whether a previous credential stays in use.
        case refused(PushError, hasPrevious: Bool)
    }

    private struct State {
        var fingerprint: [UInt8]
        var settings: SenderSettings?
        var fault: PushError?
        /// Incremented with each valid version of the credential.
        var version = 0
    }

    let source: any CredentialSource
    /// Display name of the push service, for example `APNs`.
    var serviceName: String { source.kind.platform?.displayName ?? "" }
    private let state: Mutex<State>

    init(_ source: any CredentialSource) {
        self.source = source
        // Taken before the files are read, so that a change in between causes another read.
        var found = State(fingerprint: source.fingerprint)
        do throws(PushError) {
            found.settings = try source.sender()
        } catch {
            found.fault = error
        }
        state = Mutex(found)
    }

    /// The credential in use, and its version number. Throws `credential.invalid` if the files were never valid.
    func current() throws(PushError) -> (settings: SenderSettings, version: Int) {
        let state = state.withLock { $0 }
        guard let settings = state.settings else { throw state.fault ?? Self.nothing }
        return (settings, state.version)
    }

    /// The fault of the current files; nil if they are valid.
    var fault: PushError? { state.withLock { $0.fault } }

    /// Reads the files again if they have changed.
    func reload() -> Change {
        let fingerprint = source.fingerprint
        guard state.withLock({ $0.fingerprint != fingerprint }) else { return .none }
        do throws(PushError) {
            let settings = try source.sender()
            state.withLock { state in
                (state.fingerprint, state.settings, state.fault) = (fingerprint, settings, nil)
                state.version += 1
            }
            return .renewed(settings)
        } catch {
            return state.withLock { state in
                (state.fingerprint, state.fault) = (fingerprint, error)
                return .refused(error, hasPrevious: state.settings != nil)
            }
        }
    }

    private static let nothing = PushError("credential.invalid", "the settings contain no credential")
}
