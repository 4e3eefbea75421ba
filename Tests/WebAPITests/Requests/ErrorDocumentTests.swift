import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct ErrorDocumentTests {
    private func text(_ error: PushError, at now: Timestamp = HubBench.startTime) -> String {
        String(decoding: ErrorDocument(error).document(trackingID: "cc8c_G3", now: now), as: UTF8.self)
    }

    @Test func `an error has the form of the service's`() {
        let error = PushError("hub.not_found", "installation <x> not found", status: 404)
        let expected =
            "<Error><Code>404</Code><Detail>Installation &lt;x&gt; not found.TrackingId:cc8c_G3,TimeStamp:1/5/2026 9:00:00 AM</Detail></Error>"
        #expect(text(error) == expected)
    }

    @Test func `the hint follows the message, and a conflict begins with its number`() {
        let bad = ErrorDocument(PushError("tag.invalid", "invalid tag \"a b\"", hint: "did you mean a_b?", status: 400))
        #expect(bad == ErrorDocument(status: 400, detail: "Invalid tag \"a b\". Did you mean a_b?"))
        let conflict = PushError("hub.exists", "conflict", status: 409, details: ["subcode": 40900])
        #expect(ErrorDocument(conflict).detail == "SubCode=40900. Conflict.")
        let other = PushError("sas.signature", "InvalidSignature: x", status: 401, details: ["subcode": 40103])
        #expect(ErrorDocument(other).detail == "InvalidSignature: x.")
    }

    @Test func `an error without a status does not reveal its text`() {
        #expect(ErrorDocument(PushError("x.y", "the password is 1")) == ErrorDocument(status: 500, detail: "The hub failed."))
    }

    @Test func `a transient error has its retry time`() {
        #expect(ErrorDocument(PushError("x.y", "busy", status: 503, isRetryable: true)).retryAfter == 1)
        #expect(ErrorDocument(PushError("x.y", "busy", status: 403, isRetryable: true)).retryAfter == nil)
    }

    @Test(
        arguments: [
            (0, "1/1/1970 12:00:00 AM"), (1_541_549_917, "11/7/2018 12:18:37 AM"), (43_200, "1/1/1970 12:00:00 PM"),
            (86_399, "1/1/1970 11:59:59 PM"), (-1, "12/31/1969 11:59:59 PM"), (46_800, "1/1/1970 1:00:00 PM"),
        ])
    func `times are in American format`(seconds: Int64, expected: String) {
        #expect(Timestamp(seconds: seconds).americanText == expected)
    }
}
