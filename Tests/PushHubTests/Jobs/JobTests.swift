import PushHub
import PushModel
import Storage
import Support
import Synchronization
import Testing

@Suite struct JobTests {
    private let bench: HubBench
    private let files = MemoryJobFiles()
    private let jobs: JobService

    init() throws {
        bench = try HubBench()
        jobs = JobService(
            name: "hub", hub: bench.hub, environment: bench.environment, store: bench.store,
            tools: JobService.Tools(files: files, codec: PlainLineReader()))
    }

    private func job(_ kind: NotificationHubJob.Kind, _ id: String = "job") -> NotificationHubJob {
        NotificationHubJob(
            id: id, kind: kind, outputContainerURI: "mem:out", importFileURI: kind == .exportRegistrations ? nil : "mem:in",
            createdAt: bench.clock.now, progress: NotificationHubJob.Progress(updatedAt: bench.clock.now))
    }

    private func run(_ kind: NotificationHubJob.Kind, _ lines: [String] = []) async throws -> NotificationHubJob {
        files.put(lines.map { $0 + "\n" }.joined(), "mem:in")
        let job = try await jobs.submit(job(kind))
        #expect(job.status == .started)
        await jobs.finish()
        return try await jobs.job("job")
    }

    private func rows(_ name: String) -> [String] { files.text("mem:out/hub/job/\(name).txt").split(separator: "\n").map(String.init) }

    @Test func `An export writes one line per registration`() async throws {
        var expected: [String] = []
        for number in 0..<250 {
            let registration = try await bench.register(.phone(number), tags: ["a"])
            expected.append("\(registration.id) \(registration.handle.text)")
        }
        let job = try await run(.exportRegistrations)
        #expect(job.status == .completed && job.progress.percent == 100 && job.failure == nil)
        #expect(job.progress.outputProperties == ["OutputFilePath": "/hub/job/Output.txt", "FailedFilePath": "/hub/job/Failed.txt"])
        #expect(rows("Output") == expected)
        #expect(rows("Failed").isEmpty)
    }

    @Test func `An import creates missing registrations, and reports a result for each line`() async throws {
        let there = try await bench.register(.phone(1))
        let job = try await run(
            .importCreateRegistrations,
            ["- AA", "", "\(there.id) BB", "1-2-3 CC", "nonsense", String(repeating: "x", count: 200), "- DD"])
        #expect(job.status == .completed)
        let found = try await bench.hub.registrations(.all, page: Page()).registrations
        #expect(Set(found.map(\.handle.text)) == [there.handle.text, "AA", "CC", "DD"])
        #expect(
            rows("Output").map { $0.split(separator: ",").prefix(2).joined(separator: ",") } == ["1,Created", "4,Created", "7,Created"])
        #expect(rows("Output")[1] == "4,Created,1-2-3")
        #expect(
            rows("Failed").map { $0.split(separator: ",").prefix(2).joined(separator: ",") } == ["3,job.line", "5,test.line", "6,job.line"])
    }

    @Test func `An import of updates changes existing registrations and nothing else`() async throws {
        let there = try await bench.register(.phone(1))
        _ = try await run(.importUpdateRegistrations, ["\(there.id) AA", "1-2-3 BB", "- CC"])
        #expect(rows("Output") == ["1,Updated,\(there.id)"])
        #expect(rows("Failed").map { $0.split(separator: ",")[1] } == ["hub.not_found", "job.line"])
        #expect(try await bench.hub.registration(there.id).handle == .apns(token: "AA"))
    }

    @Test func `An import writes several lines for one registration in their order`() async throws {
        _ = try await run(.importUpsertRegistrations, (0..<200).map { "1-2-3 \($0 + 1000)" })
        let registration = try await bench.hub.registration(#require(RegistrationID("1-2-3")))
        #expect(registration.handle == .apns(token: "1199"))
        #expect(registration.etag == 200)
        #expect(rows("Output").first == "1,Created,1-2-3")
        #expect(rows("Output").last == "200,Updated,1-2-3")
    }

    @Test func `An import of deletions deletes by id`() async throws {
        let there = try await bench.register(.phone(1))
        _ = try await run(.importDeleteRegistrations, ["\(there.id)", "\(there.id)", "-"])
        #expect(rows("Output") == ["1,Deleted,\(there.id)"])
        #expect(rows("Failed").map { $0.split(separator: ",")[1] } == ["hub.not_found", "job.line"])
        #expect(await bench.hub.size().registrations == 0)
    }

    @Test func `A job without its file fails and leaves no result, and the next one runs`() async throws {
        _ = try await jobs.submit(job(.importCreateRegistrations, "a"))
        _ = try await jobs.submit(job(.exportRegistrations, "b"))
        await jobs.finish()
        let failed = try await jobs.job("a")
        #expect(failed.status == .failed && failed.failure == "there is no mem:in" && failed.progress.outputProperties.isEmpty)
        #expect(try await jobs.job("b").status == .completed)
        #expect(files.names == ["mem:out/hub/b/Failed.txt", "mem:out/hub/b/Output.txt"])
        #expect(try await jobs.jobs().map(\.id) == ["b", "a"])
    }

    @Test func `A full disk ends an import`() async throws {
        bench.store.refuse([.commit])
        let job = try await run(.importCreateRegistrations, ["- AA"])
        #expect(job.status == .failed && job.failure == "the disk is full")
    }

    @Test func `A forbidden or invalid job is rejected before anything is stored`() async throws {
        var forbidden = job(.exportRegistrations)
        forbidden.outputContainerURI = "file:///etc"
        let error = await refusal { try await jobs.submit(forbidden) }
        #expect(error?.code == "job.forbidden")
        #expect(try await jobs.jobs().isEmpty)
        #expect(await refusal { try await jobs.job("job") }?.code == "job.not_found")
        let without = JobService(name: "hub", hub: bench.hub, environment: bench.environment, store: bench.store, tools: nil)
        #expect(await refusal { try await without.submit(job(.exportRegistrations)) }?.code == "job.forbidden")
    }

    @Test func `After a restart a queued job runs, and one that was running has failed`() async throws {
        var begun = job(.exportRegistrations, "begun")
        begun.progress.status = .running
        try await bench.store.putJob(begun)
        try await bench.store.putJob(job(.exportRegistrations, "waiting"))
        try await jobs.resume()
        await jobs.finish()
        #expect(try await jobs.job("begun").status == .failed)
        #expect(try await jobs.job("begun").failure == "the server stopped while the job was running")
        #expect(try await jobs.job("waiting").status == .completed)
    }

    @Test func `A stop starts no job, and stores it for the next start`() async throws {
        await jobs.stop()
        #expect(await refusal { try await jobs.submit(job(.exportRegistrations)) }?.code == "job.busy")
    }
}

/// Lines of `ID TOKEN`, with `-` for no id.
private struct PlainLineReader: RegistrationCodec {
    var maximumSize: Int { 100 }

    func line(_ registration: Registration) -> [UInt8] { Array("\(registration.id) \(registration.handle.text)".utf8) }

    func id(of line: [UInt8]) throws(PushError) -> RegistrationID? {
        RegistrationID(String(String(decoding: line, as: UTF8.self).prefix { $0 != " " }))
    }

    func registration(of line: [UInt8]) throws(PushError) -> (id: RegistrationID?, description: RegistrationDescription) {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2 else { throw PushError("test.line", "the line has no \"two\" words", hint: nil) }
        return (RegistrationID(String(words[0])), RegistrationDescription(handle: .apns(token: String(words[1]))))
    }
}

/// Files in memory, with addresses that start with `mem:`.
private final class MemoryJobFiles: JobFiles {
    private let files = Mutex<[String: [UInt8]]>([:])

    var names: [String] { files.withLock { $0.keys.sorted() } }

    func put(_ text: String, _ uri: String) { files.withLock { $0[uri] = Array(text.utf8) } }

    func text(_ uri: String) -> String { String(decoding: files.withLock { $0[uri] ?? [] }, as: UTF8.self) }

    func check(_ uri: String) throws(PushError) {
        guard !uri.hasPrefix("mem:") else { return }
        throw PushError("job.forbidden", "jobs may not use \(uri)", hint: nil, status: 403)
    }

    func read(_ uri: String) throws(PushError) -> any JobInput {
        guard let bytes = files.withLock({ $0[uri] }) else { throw PushError("job.files", "there is no \(uri)", hint: nil) }
        return Input(bytes: bytes)
    }

    func write(_ path: String, in container: String) -> any JobOutput { Output(uri: "\(container)/\(path)", files: self) }

    /// Reads a few bytes at a time.
    private final class Input: JobInput {
        let size: Int64
        private let rest: Mutex<ArraySlice<UInt8>>

        init(bytes: [UInt8]) {
            size = Int64(bytes.count)
            rest = Mutex(bytes[...])
        }

        func next() -> [UInt8]? {
            rest.withLock { rest in
                defer { rest = rest.dropFirst(7) }
                return rest.isEmpty ? nil : Array(rest.prefix(7))
            }
        }
    }

    private final class Output: JobOutput {
        private let uri: String
        private let files: MemoryJobFiles
        private let bytes = Mutex<[UInt8]>([])

        init(uri: String, files: MemoryJobFiles) {
            self.uri = uri
            self.files = files
        }

        func write(_ part: [UInt8]) { bytes.withLock { $0 += part } }
        func finish() {
            let bytes = bytes.withLock { $0 }
            files.files.withLock { $0[uri] = bytes }
        }
        func discard() {}
    }
}
