package import HubWire
package import PushModel

/// A bulk job as an element `NotificationHubJob` of an Atom entry.
package struct NotificationHubJobXML: Sendable {
    package let job: NotificationHubJob

    package init(_ job: NotificationHubJob) { self.job = job }

    /// Maximum size of a job description in bytes.
    package static let maximumSize = 64 << 10

    private static let arraysNamespace = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"

    /// Reads the body of `POST jobs`: an Atom entry around a `NotificationHubJob`. Status and progress are ignored.
    ///
    /// Throws `xml.*` and `job.invalid` (400).
    package init(body: [UInt8], id: String, now: Timestamp) throws(PushError) {
        let element = try AtomEntry.description(in: body, limit: Self.maximumSize)
        guard element.name == "NotificationHubJob", let text = element.text(of: "Type")?.trimmed,
            let kind = NotificationHubJob.Kind(rawValue: text)
        else {
            throw Self.refusal(
                "the body is not a NotificationHubJob of a known Type",
                "Type is one of \(NotificationHubJob.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard let output = element.text(of: "OutputContainerUri")?.trimmed.nonEmpty else {
            throw Self.refusal("the job has no OutputContainerUri", "add the URI for its result")
        }
        let file = element.text(of: "ImportFileUri")?.trimmed.nonEmpty
        guard kind == .exportRegistrations || file != nil else {
            throw Self.refusal("the job has no ImportFileUri", "add the URI of the file to import")
        }
        job = NotificationHubJob(
            id: id, kind: kind, outputContainerURI: output, importFileURI: file,
            inputProperties: Self.properties(element["InputProperties"]), createdAt: now,
            progress: NotificationHubJob.Progress(updatedAt: now))
    }

    package func entry(at link: String) -> AtomEntry {
        AtomEntry(id: link, title: job.id, published: job.createdAt, updated: job.progress.updatedAt)
    }

    /// Writes the whole response.
    package func document(at link: String) -> [UInt8] { entry(at: link).document { write(into: &$0) } }

    /// Appends the description. As in Azure, a job that has just started has neither progress nor status.
    package func write(into writer: inout XMLWriter) {
        writer.description("NotificationHubJob") { writer in
            writer.element("JobId", text: job.id)
            if job.progress.percent > 0 { writer.element("Progress", text: Self.decimal(job.progress.percent)) }
            writer.element("Type", text: job.kind.rawValue)
            if job.status != .started { writer.element("Status", text: job.status.rawValue) }
            writer.element("OutputContainerUri", text: job.outputContainerURI)
            writer.element("ImportFileUri", ifPresent: job.importFileURI)
            Self.write(job.inputProperties, "InputProperties", into: &writer)
            writer.element("Failure", ifPresent: job.failure)
            Self.write(job.progress.outputProperties, "OutputProperties", into: &writer)
            writer.element("CreatedAt", text: job.createdAt.description)
            writer.element("UpdatedAt", text: job.progress.updatedAt.description)
        }
    }

    private static func properties(_ element: XMLElement?) -> [String: String] {
        var properties: [String: String] = [:]
        for pair in element?.children ?? [] {
            if let key = pair.text(of: "Key") { properties[key] = pair.text(of: "Value") ?? "" }
        }
        return properties
    }

    /// Clients look for the literal prefix `d3p1`.
    private static func write(_ properties: [String: String], _ name: String, into writer: inout XMLWriter) {
        guard !properties.isEmpty else { return }
        writer.element(name, ["xmlns:d3p1": arraysNamespace]) { writer in
            for (key, value) in properties.sorted(by: { $0.key < $1.key }) {
                writer.element("d3p1:KeyValueOfstringstring") { writer in
                    writer.element("d3p1:Key", text: key)
                    writer.element("d3p1:Value", text: value)
                }
            }
        }
    }

    /// Formats with at most two decimals, without trailing zeros.
    private static func decimal(_ number: Double) -> String {
        let rounded = (number * 100).rounded() / 100
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    private static func refusal(_ why: String, _ hint: String) -> PushError {
        PushError("job.invalid", why, hint: hint, status: 400)
    }
}
