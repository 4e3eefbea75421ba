import Crypto
import FoundationEssentials
import PushModel
import PushServer
import Testing

@testable import PushHost

@Suite struct CredentialChecksTests {
    @Test(arguments: [("mailto:ops@example.com", false), ("mailto:ops@localhost", true)])
    func `A VAPID contact at localhost causes a warning`(subject: String, isWarning: Bool) async throws {
        let key = P256.Signing.PrivateKey()
        for form in [key.rawRepresentation.base64EncodedString(), key.derRepresentation.base64EncodedString(), key.pemRepresentation] {
            let environment = ["PUSHHOST_WEBPUSH_SUBJECT": subject, "PUSHHOST_WEBPUSH_KEY": form]
            let settings = try ConfiguredSettings(file: nil, environment: environment, flags: [:]).settings
            let checks = CredentialChecks(settings: settings, now: Timestamp(seconds: 1_790_000_000))
            let check = try #require(await checks.checks(isRunning: false).first)
            #expect(check.isWell && check.isWarning == isWarning, "\(check)")
        }
    }
}
