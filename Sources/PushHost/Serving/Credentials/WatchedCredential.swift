import PushCore
import Synchronization

/// A credential of the settings as it was last found good. Files that are exchanged are read again; where the new ones cannot be
/// used, the old credential stays.
final class WatchedCredential: Sendable {
    enum Change: Sendable {
        case none
        case renewed(SenderSettings)
        /// Nothing can be sent with the new files; whether there are old ones to go on with.
        case refused(PushError, goesOn: Bool)
    }

    private struct State {
        var fingerprint: [UInt8]
        var settings: SenderSettings?
        var fault: PushError?
        /// Counts what was found good.
        var version = 0
    }

    let source: any CredentialSource
    /// As people read it: `APNs`.
    var serviceName: String { source.kind.platform?.displayName ?? "" }
    private let state: Mutex<State>

    init(_ source: any CredentialSource) {
        self.source = source
        // Before the files: what changes between the two is read once more.
        var found = State(fingerprint: source.fingerprint)
        do throws(PushError) {
            found.settings = try source.sender()
        } catch {
            found.fault = error
        }
        state = Mutex(found)
    }

    /// What is used, with a number that changes with it. Throws `credential.invalid` where the files were never good.
    func current() throws(PushError) -> (settings: SenderSettings, version: Int) {
        let state = state.withLock { $0 }
        guard let settings = state.settings else { throw state.fault ?? Self.nothing }
        return (settings, state.version)
    }

    /// What is wrong with the files as they are now; nil where nothing is.
    var fault: PushError? { state.withLock { $0.fault } }

    /// Reads the files again where they have changed.
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
                return .refused(error, goesOn: state.settings != nil)
            }
        }
    }

    private static let nothing = PushError("credential.invalid", "there is no credential in the settings")
}
