import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct NotificationHubJobTests {
    private static let head =
        #"<NotificationHubJob xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">"#

    private func read(_ inside: String) throws(PushError) -> NotificationHubJob {
        let text = "<entry><content>" + Self.head + inside + "</NotificationHubJob></content></entry>"
        return try NotificationHubJobXML(body: Array(text.utf8), id: "j-1", now: HubBench.startTime).job
    }

    private func written(_ job: NotificationHubJob) -> String {
        var writer = XMLWriter()
        NotificationHubJobXML(job).write(into: &writer)
        return writer.text
    }

    @Test func `a new job is returned as the service does`() throws {
        let job = try read(
            "<OutputContainerUri><![CDATA[https://a/?b&c]]></OutputContainerUri><ImportFileUri>https://a/f</ImportFileUri>"
                + "<Type>ImportCreateRegistrations</Type>")
        let text =
            Self.head
            + "<JobId>j-1</JobId><Type>ImportCreateRegistrations</Type><OutputContainerUri>https://a/?b&amp;c</OutputContainerUri>"
            + "<ImportFileUri>https://a/f</ImportFileUri><CreatedAt>2026-01-05T09:00:00.000Z</CreatedAt>"
            + "<UpdatedAt>2026-01-05T09:00:00.000Z</UpdatedAt></NotificationHubJob>"
        #expect(written(job) == text)
        let document = String(decoding: NotificationHubJobXML(job).document(at: "https://ns/hub/jobs/j-1"), as: UTF8.self)
        #expect(
            document.hasPrefix(
                #"<entry xmlns="http://www.w3.org/2005/Atom"><id>https://ns/hub/jobs/j-1</id><title type="text">j-1</title>"#))
        #expect(document.hasSuffix("<content type=\"application/xml\">\(text)</content></entry>"))
    }

    @Test func `properties have the prefix that clients expect`() throws {
        var job = try read(
            "<InputProperties xmlns:x='u'><x:KeyValueOfstringstring><x:Key>k</x:Key><x:Value>v</x:Value></x:KeyValueOfstringstring>"
                + "</InputProperties><Type>ExportRegistrations</Type><OutputContainerUri>file:/a</OutputContainerUri>")
        #expect(job.inputProperties == ["k": "v"])
        job.progress.percent = 33.333
        job.progress.status = .failed
        job.progress.failure = "<no>"
        job.progress.outputProperties = ["OutputFilePath": "/hub/j/Output.txt", "FailedFilePath": "/hub/j/Failed.txt"]
        func bag(_ name: String, _ pairs: KeyValuePairs<String, String>) -> String {
            "<\(name) xmlns:d3p1=\"http://schemas.microsoft.com/2003/10/Serialization/Arrays\">"
                + pairs.map {
                    "<d3p1:KeyValueOfstringstring><d3p1:Key>\($0)</d3p1:Key><d3p1:Value>\($1)</d3p1:Value></d3p1:KeyValueOfstringstring>"
                }.joined() + "</\(name)>"
        }
        let text =
            Self.head + "<JobId>j-1</JobId><Progress>33.33</Progress><Type>ExportRegistrations</Type><Status>Failed</Status>"
            + "<OutputContainerUri>file:/a</OutputContainerUri>" + bag("InputProperties", ["k": "v"]) + "<Failure>&lt;no&gt;</Failure>"
            + bag("OutputProperties", ["FailedFilePath": "/hub/j/Failed.txt", "OutputFilePath": "/hub/j/Output.txt"])
            + "<CreatedAt>2026-01-05T09:00:00.000Z</CreatedAt><UpdatedAt>2026-01-05T09:00:00.000Z</UpdatedAt></NotificationHubJob>"
        #expect(written(job) == text)
        job.progress.percent = 100
        #expect(written(job).contains("<Progress>100</Progress>"))
    }

    @Test(
        arguments: [
            "", "<Type>Other</Type><OutputContainerUri>a</OutputContainerUri>", "<Type>ExportRegistrations</Type>",
            "<Type>ImportUpdateRegistrations</Type><OutputContainerUri>a</OutputContainerUri>",
        ])
    func `an incomplete job is refused`(inside: String) async {
        let error = await refusal { try read(inside) }
        #expect(error?.code == "job.invalid" && error?.status == 400)
    }
}
