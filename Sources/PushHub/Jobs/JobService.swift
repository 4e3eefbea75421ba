package import PushModel

/// The bulk jobs of a hub: export of registrations to a file, and import from one. Jobs are stored and run one at a time, in order.
package actor JobService {
    /// The dependencies of jobs, the same for every hub.
    package struct Tools: Sendable {
        package var files: any JobFiles
        package var codec: any RegistrationCodec

        package init(files: any JobFiles, codec: any RegistrationCodec) {
            self.files = files
            self.codec = codec
        }
    }

    /// Maximum number of queued jobs.
    private static let maximumQueue = 100
    /// Maximum number of jobs in a list.
    private static let maximumList = 1000

    let hub: NotificationHub
    private let name: String
    let environment: HubEnvironment
    private let store: any JobStore
    private let tools: Tools?
    private var queue: [NotificationHubJob] = []
    /// The running job, in its current state.
    private var running: NotificationHubJob?
    private var task: Task<Void, Never>?
    private var isStopping = false

    /// - Parameters:
    ///   - name: the hub's name, used in the paths of results.
    ///   - tools: nil if jobs are disabled.
    package init(name: String, hub: NotificationHub, environment: HubEnvironment, store: any JobStore, tools: Tools?) {
        self.name = name
        self.hub = hub
        self.environment = environment
        self.store = store
        self.tools = tools
    }

    // MARK: - Submitting

    /// Stores and queues a job. Throws `job.uri` (400), `job.forbidden` (403), `job.busy` (429).
    package func submit(_ job: NotificationHubJob) async throws(PushError) -> NotificationHubJob {
        guard let tools else {
            throw PushError("job.forbidden", "jobs are disabled on this server", hint: "register devices one by one", status: 403)
        }
        try tools.files.check(job.outputContainerURI)
        if let uri = job.importFileURI { try tools.files.check(uri) }
        guard queue.count < Self.maximumQueue, !isStopping else {
            throw PushError(
                "job.busy", "\(queue.count) jobs of this hub are waiting", hint: "wait until some have ended", status: 429,
                isRetryable: true)
        }
        try await store.putJob(job)
        queue.append(job)
        environment.note(.hub, "job \(job.id) queued: \(job.kind.rawValue)")
        startNext()
        return job
    }

    /// The job with an id. Throws `job.not_found` (404).
    package func job(_ id: String) async throws(PushError) -> NotificationHubJob {
        if let running, running.id == id { return running }
        guard let job = try await store.job(id) else {
            throw PushError("job.not_found", "unknown job \"\(id)\"", hint: "list the jobs of the hub", status: 404)
        }
        return job
    }

    /// The latest 1,000 jobs, newest first.
    package func jobs() async throws(PushError) -> [NotificationHubJob] {
        try await store.jobs(limit: Self.maximumList).map { $0.id == running?.id ? running ?? $0 : $0 }
    }

    /// Continues with stored jobs. Queued ones run. One that was running has failed, because it is unknown how much of it was done. Call
    /// it once.
    package func resume() async throws(PushError) {
        for var job in try await store.unfinishedJobs() {
            if job.status == .started {
                queue.append(job)
                continue
            }
            job.progress.fail("the server stopped while the job was running", at: environment.clock.now)
            do throws(PushError) {
                try await store.putJob(job)
            } catch {
                // The next start tries again.
                environment.warn(.hub, "job \(job.id) failed, and its state could not be stored: \(error.message)")
            }
        }
        startNext()
    }

    /// Stops the running job, which then has failed, and starts no other.
    package func stop() async {
        isStopping = true
        task?.cancel()
        await task?.value
    }

    /// Returns when no job is running or queued.
    package func finish() async {
        while let task { await task.value }
    }

    // MARK: - Running

    private func startNext() {
        guard task == nil, !isStopping, !queue.isEmpty, let tools else { return }
        let job = queue.removeFirst()
        running = job
        task = environment.start { [weak self] in await self?.run(job, tools) }
    }

    private func run(_ job: NotificationHubJob, _ tools: Tools) async {
        var job = job
        job.progress.status = .running
        await save(job)
        let folder = "\(name)/\(job.id)"
        var end = job
        do throws(PushError) {
            try await work(job, tools, folder: folder)
            end = running ?? job
            end.progress.complete(
                with: ["OutputFilePath": "/\(folder)/Output.txt", "FailedFilePath": "/\(folder)/Failed.txt"], at: environment.clock.now)
        } catch {
            end = running ?? job
            end.progress.fail(error.message, at: environment.clock.now)
        }
        environment.note(.hub, "job \(end.id) \(end.status.rawValue.lowercased())\(end.failure.map { ": \($0)" } ?? "")")
        await save(end)
        running = nil
        task = nil
        startNext()
    }

    /// Runs a job and writes both result files. Removes both if the job fails.
    private func work(_ job: NotificationHubJob, _ tools: Tools, folder: String) async throws(PushError) {
        let output = try await tools.files.write("\(folder)/Output.txt", in: job.outputContainerURI)
        let failed: any JobOutput
        do throws(PushError) {
            failed = try await tools.files.write("\(folder)/Failed.txt", in: job.outputContainerURI)
        } catch {
            await output.discard()
            throw error
        }
        do throws(PushError) {
            if let uri = job.importFileURI, job.kind != .exportRegistrations {
                let input = try await tools.files.read(uri)
                try await importRegistrations(job.kind, from: input, codec: tools.codec, output, failed)
            } else {
                try await export(with: tools.codec, to: output)
            }
        } catch {
            await output.discard()
            await failed.discard()
            throw error
        }
        do throws(PushError) {
            try await failed.finish()
        } catch {
            await output.discard()
            throw error
        }
        try await output.finish()
    }

    private func export(with codec: any RegistrationCodec, to output: any JobOutput) async throws(PushError) {
        let total = await hub.size().registrations
        var done = 0
        var page = Page()
        repeat {
            try checkIsNotStopping()
            let found = try await hub.registrations(.all, page: page)
            var bytes: [UInt8] = []
            for registration in found.registrations {
                bytes += codec.line(registration)
                bytes.append(0x0A)
            }
            try await output.write(bytes)
            done += found.registrations.count
            await advance(to: Double(done) / Double(max(1, total)))
            page.continuation = found.continuation
        } while page.continuation != nil
    }

    private func importRegistrations(
        _ kind: NotificationHubJob.Kind, from input: any JobInput, codec: any RegistrationCodec, _ output: any JobOutput,
        _ failed: any JobOutput
    ) async throws(PushError) {
        let importer = RegistrationImport(kind: kind, hub: hub, codec: codec)
        var splitter = LineSplitter(limit: codec.maximumSize)
        var number = 0
        var read: Int64 = 0
        while true {
            try checkIsNotStopping()
            let piece = try await input.next()
            var lines = piece.map { splitter.add($0) } ?? []
            if piece == nil, let last = splitter.finish() { lines.append(last) }
            let rows = try await importer.rows(of: lines, from: number + 1)
            number += lines.count
            try await output.write(rows.done)
            try await failed.write(rows.failed)
            guard let piece else { return }
            read += Int64(piece.count)
            await advance(to: Double(read) / Double(max(1, input.size)))
        }
    }

    private func checkIsNotStopping() throws(PushError) {
        guard isStopping else { return }
        throw PushError("job.stopped", "the server stopped while the job was running", hint: "start the job again", status: 503)
    }

    /// Updates the progress, and stores it at every full percent.
    private func advance(to part: Double) async {
        guard var job = running else { return }
        let before = job.progress.percent
        job.progress.advance(to: part, at: environment.clock.now)
        running = job
        if Int(job.progress.percent) > Int(before) { await save(job) }
    }

    /// Stores a job's state. Failing to do so does not stop the job.
    private func save(_ job: NotificationHubJob) async {
        running = job
        do throws(PushError) {
            try await store.putJob(job)
        } catch {
            environment.warn(.hub, "job \(job.id): its state could not be stored: \(error.message)")
        }
    }
}
