import PushModel
import Support
import Testing

@testable import HubWire

@Suite struct AtomTests {
    private static let entry = AtomEntry(
        id: "https://ns/hub/registrations/1-2-3?api-version=2017-04&$top=1", title: "1-2-3",
        published: Timestamp(milliseconds: 1_541_549_917_123), updated: Timestamp(milliseconds: 1_541_549_918_999), etag: 2)

    private static let inside =
        #"<id>https://ns/hub/registrations/1-2-3?api-version=2017-04&amp;$top=1</id><title type="text">1-2-3</title>"#
        + "<published>2018-11-07T00:18:37Z</published><updated>2018-11-07T00:18:38Z</updated>"

    private static let rest =
        #"<link rel="self" href="https://ns/hub/registrations/1-2-3?api-version=2017-04&amp;$top=1"/>"#
        + #"<content type="application/xml"><X xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect""#
        + #" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Y>1</Y></X></content></entry>"#

    private static func write(_ writer: inout XMLWriter) { writer.description("X") { $0.element("Y", text: "1") } }

    @Test func `an entry equals that of the service`() {
        let text =
            #"<entry a:etag="W/&quot;2&quot;" xmlns="http://www.w3.org/2005/Atom""#
            + #" xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">"# + Self.inside + Self.rest
        #expect(String(decoding: Self.entry.document(Self.write), as: UTF8.self) == text)
    }

    @Test func `an entry of a hub has an author and no etag`() {
        var entry = Self.entry
        entry.etag = nil
        entry.author = "ns"
        let text =
            #"<entry xmlns="http://www.w3.org/2005/Atom">"# + Self.inside + "<author><name>ns</name></author>" + Self.rest
        #expect(String(decoding: entry.document(Self.write), as: UTF8.self) == text)
    }

    @Test func `a feed has its entries last, without repeating the Atom namespace`() {
        let feed = AtomFeed(title: "Registrations", id: "https://ns/hub/registrations?a=1&b=2", updated: Self.entry.updated)
        let head =
            #"<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title>"#
            + "<id>https://ns/hub/registrations?a=1&amp;b=2</id><updated>2018-11-07T00:18:38Z</updated>"
            + #"<link rel="self" href="https://ns/hub/registrations?a=1&amp;b=2"/>"#
        let entry =
            #"<entry a:etag="W/&quot;2&quot;" xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">"#
            + Self.inside + Self.rest
        let bytes = feed.document([(Self.entry, 1), (Self.entry, 2)]) { writer, _ in Self.write(&writer) }
        #expect(String(decoding: bytes, as: UTF8.self) == head + entry + entry + "</feed>")
        #expect(String(decoding: feed.emptyListing(), as: UTF8.self) == head + "</feed>")
    }

    @Test(
        arguments: [
            "<entry xmlns='http://www.w3.org/2005/Atom'><content type='application/xml'><X/></content></entry>",
            "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><entry><updated>x</updated><content type='text/xml'>\n <X/>\n</content></entry>",
            "<a:entry xmlns:a='u'><a:title/><a:content type='application/atom+xml;type=entry;charset=utf-8'><X/></a:content></a:entry>",
            "<X/>",
        ])
    func `the description in a request is found in any wrapping`(text: String) throws {
        #expect(try AtomEntry.description(in: Array(text.utf8), limit: 1000).name == "X")
    }

    @Test(arguments: ["<entry/>", "<entry><content/></entry>", "<entry><content>text</content></entry>"])
    func `an entry without a description is refused`(text: String) async {
        let error = await refusal { try AtomEntry.description(in: Array(text.utf8), limit: 1000) }
        #expect(error?.code == "xml.invalid" && error?.status == 400)
    }
}
