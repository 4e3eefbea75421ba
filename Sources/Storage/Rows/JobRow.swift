import PushModel

/// A stored bulk job. What has no column of its own is JSON, which is sealed:
///
/// `{"output": "file:///jobs", "import": "file:///jobs/in", "properties": {…}, "failure": "…", "results": {…}}`
struct JobRow {
    /// The columns that `init(_:_:)` reads.
    static let columns = "id, kind, status, progress, created_at, updated_at, secrets, hub"

    let job: NotificationHubJob

    init(_ job: NotificationHubJob) { self.job = job }

    init(_ row: some SQLRow, _ seal: SecretSeal) throws {
        job = try reading("the job \(row.text(0)) of hub \(row.integer(7))") {
            let json = try seal.json(row.bytes(6), of: .job(row.text(0), hub: row.integer(7)))
            return NotificationHubJob(
                id: row.text(0), kind: try NotificationHubJob.Kind(stored: row.text(1)),
                outputContainerURI: try json.required("output").storedText(), importFileURI: try json["import"]?.storedText(),
                inputProperties: try json["properties"]?.storedTexts() ?? [:], createdAt: row.time(4),
                progress: NotificationHubJob.Progress(
                    status: try NotificationHubJob.Status(stored: row.text(2)), percent: Double(row.integer(3)) / 100,
                    failure: try json["failure"]?.storedText(), outputProperties: try json["results"]?.storedTexts() ?? [:],
                    updatedAt: row.time(5)))
        }
    }

    var content: JSON {
        var object: JSONObject = ["output": .string(job.outputContainerURI)]
        if let importFileURI = job.importFileURI { object.append("import", .string(importFileURI)) }
        if !job.inputProperties.isEmpty { object.append("properties", JSON(job.inputProperties)) }
        if let failure = job.failure { object.append("failure", .string(failure)) }
        if !job.progress.outputProperties.isEmpty { object.append("results", JSON(job.progress.outputProperties)) }
        return .object(object)
    }
}
