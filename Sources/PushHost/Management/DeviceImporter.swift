import PushModel

/// Sends the devices of a file to a server in batches, several at a time, and collects what is rejected in the order of the lines.
///
/// Devices that affect each other are not sent at the same time.
struct DeviceImporter: Sendable {
    /// A line that is not stored.
    struct Rejection: Equatable {
        var line: Int
        var code: String
        var reason: String
    }

    struct Summary: Sendable, Equatable {
        /// Devices that are stored or, in a dry run, valid.
        var stored = 0
        var rejected = 0
        /// The last line up to which all lines are done.
        var lastLine = 0
    }

    let parser: DeviceLineParser
    var isDryRun = false
    /// Whether to stop after a batch with a rejected line.
    var isStrict = false
    /// Sends the body of a request.
    let post: @Sendable (_ body: [UInt8]) async throws(PushError) -> JSON
    /// Waits before a request is repeated.
    let pause: @Sendable (Duration) async -> Void

    /// Maximum number of devices in a request.
    private static let batchSize = 1000
    /// Maximum size of the devices in a request in bytes, below that of a body of the JSON API.
    private static let batchBytes = 250_000
    /// Maximum number of requests at a time.
    private static let width = 4
    /// Maximum number of batches after the first one that is not done.
    private static let lead = 8
    private static let attempts = 6

    private struct Batch: Sendable {
        let number: Int
        var body: [UInt8] = []
        /// The lines of the devices in the body.
        var lines: [Int] = []
        var rejections: [Rejection] = []
        var lastLine: Int
        var keys: Set<String> = []
    }

    private struct Finished: Sendable {
        var batch: Batch
        var stored = 0
        var error: PushError?
    }

    /// Imports lines until the source ends, a request fails, the task is cancelled or, if strict, a line is rejected.
    ///
    /// - Parameters:
    ///   - start: the number of lines that come before those of the source.
    ///   - next: returns the next line; nil at the end.
    ///   - reject: receives the lines that are not stored, in order.
    ///   - progress: called when further lines are done.
    /// - Returns: what was done, and why it ended before the source did.
    func run(
        after start: Int, next: () -> [UInt8]?, reject: (Rejection) throws(PushError) -> Void, progress: (Summary) -> Void
    ) async -> (summary: Summary, error: PushError?) {
        var summary = Summary(lastLine: start)
        var failure: PushError?
        var batcher = Batcher(parser: parser, line: start)
        await withTaskGroup(of: Finished.self) { group in
            var running: [Int: Set<String>] = [:]
            var waiting: [Int: Finished] = [:]
            var due = 0
            func take(_ finished: Finished) {
                running[finished.batch.number] = nil
                waiting[finished.batch.number] = finished
                while failure == nil, let ready = waiting.removeValue(forKey: due) {
                    due += 1
                    failure = ready.error
                    guard ready.error == nil else { return }
                    summary.stored += ready.stored
                    summary.rejected += ready.batch.rejections.count
                    summary.lastLine = ready.batch.lastLine
                    do throws(PushError) {
                        for rejection in ready.batch.rejections { try reject(rejection) }
                    } catch {
                        failure = error
                    }
                    progress(summary)
                }
            }
            func isOver() -> Bool { failure != nil || Task.isCancelled || isStrict && summary.rejected > 0 }
            while !isOver(), let batch = batcher.next(next) {
                while running.count >= Self.width || batch.number >= due + Self.lead
                    || running.values.contains(where: { !$0.isDisjoint(with: batch.keys) })
                {
                    guard let finished = await group.next() else { break }
                    take(finished)
                }
                if isOver() { break }
                running[batch.number] = batch.keys
                group.addTask { await send(batch) }
            }
            for await finished in group { take(finished) }
        }
        // Requests that were under way then failed because of the cancellation.
        if Task.isCancelled { failure = PushError("cancelled", "the import was interrupted") }
        return (summary, failure)
    }

    private func send(_ batch: Batch) async -> Finished {
        var finished = Finished(batch: batch)
        guard !batch.lines.isEmpty else { return finished }
        let body = Array("{\"devices\":[".utf8) + batch.body + Array("],\"dryRun\":\(isDryRun)}".utf8)
        for attempt in 1...Self.attempts {
            do throws(PushError) {
                let answer = try await post(body)
                let rejected = (answer["rejected"]?.array ?? []).compactMap { Rejection($0, lines: batch.lines) }
                finished.batch.rejections = (batch.rejections + rejected).sorted { $0.line < $1.line }
                finished.stored = batch.lines.count - rejected.count
                finished.error = nil
                return finished
            } catch {
                finished.error = error
                // A server that is not running when the import begins is reported at once.
                guard error.isWorthRepeating(isFirst: batch.number < Self.width), attempt < Self.attempts, !Task.isCancelled else { break }
                await pause(.milliseconds(500 << (attempt - 1)))
            }
        }
        return finished
    }

    /// Collects lines into batches.
    private struct Batcher {
        let parser: DeviceLineParser
        var line: Int
        private var number = 0
        /// A device that did not fit into the previous batch.
        private var leftover: (line: Int, device: DeviceLineParser.Device)?

        init(parser: DeviceLineParser, line: Int) { (self.parser, self.line) = (parser, line) }

        /// The next batch; nil at the end of the source.
        mutating func next(_ source: () -> [UInt8]?) -> Batch? {
            var batch = Batch(number: number, lastLine: line)
            var isEmpty = true
            if let (line, device) = leftover {
                leftover = nil
                isEmpty = false
                add(device, line, to: &batch)
            }
            while batch.lines.count < DeviceImporter.batchSize, batch.rejections.count < DeviceImporter.batchSize, let bytes = source() {
                isEmpty = false
                line += 1
                do throws(PushError) {
                    if let device = try parser.device(bytes) {
                        guard batch.body.count + device.json.count < DeviceImporter.batchBytes || batch.lines.isEmpty else {
                            leftover = (line, device)
                            break
                        }
                        add(device, line, to: &batch)
                    }
                    batch.lastLine = line
                } catch {
                    batch.rejections.append(Rejection(line: line, code: error.code, reason: error.sentence))
                    batch.lastLine = line
                }
            }
            guard !isEmpty else { return nil }
            number += 1
            return batch
        }

        private func add(_ device: DeviceLineParser.Device, _ line: Int, to batch: inout Batch) {
            batch.lastLine = line
            guard device.json.count < DeviceImporter.batchBytes else {
                let reason = "the device has \(device.json.count) bytes; an import accepts at most \(DeviceImporter.batchBytes)"
                batch.rejections.append(Rejection(line: line, code: "usage.value", reason: reason))
                return
            }
            if !batch.lines.isEmpty { batch.body.append(UInt8(ascii: ",")) }
            batch.body += device.json
            batch.lines.append(line)
            batch.keys.insert(device.key)
        }
    }
}

extension DeviceImporter.Rejection {
    /// - Parameter lines: the lines of the devices in the request.
    fileprivate init?(_ json: JSON, lines: [Int]) {
        guard let position = json["position"]?.int, lines.indices.contains(position) else { return nil }
        let reason = [json["message"]?.string, json["hint"]?.string].compactMap { $0 }.joined(separator: "; ")
        self.init(line: lines[position], code: json["code"]?.string ?? "", reason: reason)
    }

    /// The line in a file of rejected lines.
    var csv: String { "\(line),\(code),\"\(reason.replacing("\"", with: "\"\"").replacing("\n", with: " "))\"" }
}

extension PushError {
    fileprivate var sentence: String { hint.map { "\(message); \($0)" } ?? message }

    /// Whether the same request may succeed later: the server is busy or restarting, or the connection broke. An import can be repeated.
    fileprivate func isWorthRepeating(isFirst: Bool) -> Bool {
        status == 429 || status == 503 || details[ManagementClient.isBroken] == true || code == "control.unreachable" && !isFirst
    }
}
