import Delivery
import PushCore
import Synchronization

/// The credential of the operator's files as it was last found good. Files that are exchanged are read again; where the new ones
/// cannot be used, the old credential stays.
final class WatchedAPNsFiles: Sendable {
    enum Change: Sendable {
        case none
        case renewed(APNsSettings)
        /// Nothing can be sent with the new files; whether there are old ones to go on with.
        case refused(PushError, goesOn: Bool)
    }

    private struct State {
        var fingerprint: [UInt8]
        var settings: APNsSettings?
        var fault: PushError?
        /// Counts what was found good.
        var version = 0
    }

    let files: APNsFiles
    private let state: Mutex<State>

    init(_ files: APNsFiles) {
        self.files = files
        // Before the files: what changes between the two is read once more.
        var found = State(fingerprint: files.fingerprint)
        do throws(PushError) {
            found.settings = try files.settings()
        } catch {
            found.fault = error
        }
        state = Mutex(found)
    }

    /// What is used, with a number that changes with it. Throws `credential.invalid` where the files were never good.
    func current() throws(PushError) -> (settings: APNsSettings, version: Int) {
        let state = state.withLock { $0 }
        guard let settings = state.settings else { throw state.fault ?? Self.nothing }
        return (settings, state.version)
    }

    /// What is wrong with the files as they are now; nil where nothing is.
    var fault: PushError? { state.withLock { $0.fault } }

    /// Reads the files again where they have changed.
    func reload() -> Change {
        let fingerprint = files.fingerprint
        guard state.withLock({ $0.fingerprint != fingerprint }) else { return .none }
        do throws(PushError) {
            let settings = try files.settings()
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

    private static let nothing = PushError("credential.invalid", "there is no APNs credential in the settings")
}
