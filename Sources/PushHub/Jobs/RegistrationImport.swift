import PushModel

/// Imports registrations from the lines of a file, and reports the result of each line.
struct RegistrationImport {
    /// Lines of the result files, as bytes: `12,Created,ID` and `13,hub.gone,"…"`.
    struct Rows {
        var done: [UInt8] = []
        var failed: [UInt8] = []
    }

    /// Lines imported concurrently, so that they share a commit.
    private static let batch = 64

    let kind: NotificationHubJob.Kind
    let hub: NotificationHub
    let codec: any RegistrationCodec

    private enum Step: Sendable {
        case put(RegistrationID?, RegistrationDescription)
        case delete(RegistrationID)
        case fail(PushError)

        var id: RegistrationID? {
            switch self {
            case .put(let id, _): id
            case .delete(let id): id
            case .fail: nil
            }
        }
    }

    /// Imports lines. Empty lines are counted but produce no result. Lines of the same registration are imported in order. Throws if the
    /// store fails.
    func rows(of lines: [LineSplitter.Line], from number: Int) async throws(PushError) -> Rows {
        var rows = Rows()
        var steps: [(number: Int, step: Step)] = []
        var ids: Set<RegistrationID> = []
        for (offset, line) in lines.enumerated() {
            guard let step = step(line) else { continue }
            if steps.count == Self.batch || step.id.map(ids.contains) == true {
                try await perform(steps, into: &rows)
                (steps, ids) = ([], [])
            }
            steps.append((number + offset, step))
            if let id = step.id { ids.insert(id) }
        }
        try await perform(steps, into: &rows)
        return rows
    }

    private func step(_ line: LineSplitter.Line) -> Step? {
        guard case .text(let bytes) = line else {
            return .fail(PushError("job.line", "the line has more than \(codec.maximumSize) bytes", hint: nil, status: 413))
        }
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return nil }
        do throws(PushError) {
            if kind == .importDeleteRegistrations {
                guard let id = try codec.id(of: bytes) else { throw Self.noID }
                return .delete(id)
            }
            let (id, description) = try codec.registration(of: bytes)
            if id == nil, kind == .importUpdateRegistrations { throw Self.noID }
            return .put(id, description)
        } catch {
            return .fail(error)
        }
    }

    private func perform(_ steps: [(number: Int, step: Step)], into rows: inout Rows) async throws(PushError) {
        let attempts = await withTaskGroup(of: Attempt.self) { group in
            for (number, step) in steps { group.addTask { await attempt(number, step) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for attempt in attempts.sorted(by: { $0.number < $1.number }) {
            let number = attempt.number
            switch attempt.result {
            case .success(let text): rows.done += Array("\(number),\(text)\n".utf8)
            case .failure(let error):
                // A storage error would fail every other line, too, so it ends the job.
                if error.code.hasPrefix("storage.") { throw error }
                let message = error.message.replacing("\"", with: "\"\"").replacing("\n", with: " ").replacing("\r", with: " ")
                rows.failed += Array("\(number),\(error.code),\"\(message)\"\n".utf8)
            }
        }
    }

    private struct Attempt: Sendable {
        /// The line number.
        let number: Int
        let result: Result<String, PushError>
    }

    private func attempt(_ number: Int, _ step: Step) async -> Attempt {
        let result: Result<String, PushError>
        // Not evaluated inside the returned value: optimized builds of Swift 6.3 lose the part of a value that is initialized before an
        // `await`.
        do throws(PushError) {
            let text = try await perform(step)
            result = .success(text)
        } catch {
            result = .failure(error)
        }
        return Attempt(number: number, result: result)
    }

    private func perform(_ step: Step) async throws(PushError) -> String {
        switch step {
        case .fail(let error): throw error
        case .delete(let id):
            try await hub.deleteRegistration(id, ifMatch: nil)
            return "Deleted,\(id)"
        case .put(nil, let description): return "Created,\(try await hub.importRegistration(nil, description).id)"
        case .put(let id?, let description):
            let isThere = await hub.hasRegistration(id)
            if kind == .importUpdateRegistrations, !isThere { _ = try await hub.registration(id) }
            if kind == .importCreateRegistrations, isThere {
                throw PushError(
                    "job.line", "there is a registration \(id) already", hint: "use an update import, or omit the id", status: 409)
            }
            _ = try await hub.importRegistration(id, description)
            return "\(isThere ? "Updated" : "Created"),\(id)"
        }
    }

    private static let noID = PushError("job.line", "the line has no RegistrationId", hint: "add it", status: 400)
}
