import Glibc
package import PushModel
import PushRuntime
import RemoteHub
import Synchronization

/// Records what a killed server would leave behind: the handles of the sessions' phones, and how far the lab's clock is ahead. A file of
/// JSON lines in the lab's folder.
package final class LabLedger: Sendable {
    /// How far the clock was ahead of the system's when the last session ended.
    let lead: Duration
    /// Handles of sessions that did not end.
    let leftovers: [DeviceHandle]
    private let path: String
    private let file = Mutex<LedgerFile?>(nil)

    /// Reads the previous server's ledger and skips an incomplete line. Throws `simulate.data`.
    init(path: String) throws(PushError) {
        self.path = path
        var lead: Duration = .zero
        var handles: [String: [DeviceHandle]] = [:]
        for line in try Self.lines(path) {
            if let milliseconds = line["lead"]?.int, milliseconds >= 0 { lead = .milliseconds(milliseconds) }
            guard let session = line["session"]?.string else { continue }
            if line["handle"] == nil {
                handles[session] = nil
            } else if let handle = try? DeviceHandle(try LabFields(answer: line)) {
                handles[session, default: []].append(handle)
            }
        }
        self.lead = lead
        leftovers = handles.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// - Parameter folder: the lab's folder.
    static func path(in folder: String) -> String { "\(folder)/sessions.jsonl" }

    private static func lines(_ path: String) throws(PushError) -> [JSON] {
        do {
            let bytes = try TextFile.read(path, limit: 1 << 30, kind: "secrets")
            return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON(parsing: $0) }
        } catch  where error.code == "secrets.not_found" {
            return []
        } catch {
            throw PushError("simulate.data", error.message, hint: "use a folder that you can write to")
        }
    }

    /// Starts an empty ledger after leftovers were removed. Throws `simulate.data` and `simulate.ledger`.
    /// - Parameter newLead: how far the clock is ahead now; nil to store the old value again.
    func begin(lead newLead: Duration? = nil) throws(PushError) {
        let first = JSON.lab(["lead": .integer((newLead ?? lead).milliseconds)]).serialized() + [0x0a]
        do {
            try ResultFile.write(first, to: path, permissions: 0o600)
        } catch {
            throw PushError("simulate.data", error.message, hint: "use a folder that you can write to")
        }
        let opened = try LedgerFile(path: path)
        file.withLock { $0 = opened }
    }

    /// Appends to the previous server's ledger. Throws `simulate.ledger`.
    func resume() throws(PushError) {
        let opened = try LedgerFile(path: path)
        file.withLock { $0 = opened }
    }

    /// Records that a session has a handle. Returns once the line has been written.
    package func note(_ handle: DeviceHandle, of session: String) async {
        var line = handle.labJSON.object ?? JSONObject()
        line["session"] = .string(session)
        await append(.object(line))
    }

    /// Records how far the clock is ahead of the system's.
    func note(lead: Duration) async { await append(["lead": .integer(lead.milliseconds)]) }

    /// Records that nothing of a session is left to remove.
    func noteEnd(of session: String) async { await append(["session": .string(session)]) }

    private func append(_ line: JSON) async {
        guard let file = file.withLock({ $0 }) else { return }
        await withCheckedContinuation { continuation in
            file.append(line.serialized() + [0x0a]) { continuation.resume() }
        }
    }
}
