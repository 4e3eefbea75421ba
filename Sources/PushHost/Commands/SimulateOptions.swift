import ArgumentParser
import PushCore
import Simulators

/// What `pushhost simulate` takes with any service.
struct SimulateOptions: ParsableArguments {
    @Option(help: "The port of the service on 127.0.0.1, over TLS; 0 takes a free one.")
    var port: SimulatedPort = .number(8091)

    @Option(help: "The port of the control plane, where all services are over plain HTTP/1.1; 0 takes a free one.")
    var controlPort: UInt16 = 8090

    @Option(help: "What handles and credentials call the port of the service, such as localhost:9443 where it is reached through another.")
    var `public`: String?

    @Option(
        help: "Keep in this folder what is to stay: the keys, the certificate of TLS, and the ledger, but for that of APNs alone.",
        completion: .directory)
    var data: String?

    @Option(help: "Append a JSON line to this file for every notification.", completion: .file())
    var ledger: String?

    @Flag(help: "Make a phone of every handle of the right shape that is pushed to.")
    var adopt = false

    @Option(
        help: "How many handles may become phones with --adopt; 1000000 by default, and 20000000 for APNs alone, which only counts most.")
    var phones: Int?

    @OptionGroup(title: "Faults")
    var faults: SimulateFaultOptions

    @Option(help: "How many threads share the connections.")
    var threads: Int = 1

    func validate() throws {
        guard (1...256).contains(threads) else { throw ValidationError("--threads \(threads): it is a number from 1 to 256") }
        if let phones, !(1...20_000_000).contains(phones) {
            throw ValidationError("--phones \(phones): it is a number from 1 to 20000000")
        }
        guard phones == nil || adopt else { throw ValidationError("--phones goes with --adopt: add it, or leave out --phones") }
        if let authority = `public`, !Self.isAuthority(authority) {
            throw ValidationError("--public \(authority): it is a host and a port, such as localhost:9443")
        }
    }

    /// A host of letters, digits, dots and hyphens, and a port unless it is 443.
    private static func isAuthority(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty,
            parts[0].utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") })
        else { return false }
        return parts.count == 1 || UInt16(parts[1]).map { $0 > 0 } == true
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}

/// A port, or none.
enum SimulatedPort: ExpressibleByArgument, Equatable {
    case number(UInt16)
    case none

    init?(argument: String) {
        if argument == "none" {
            self = .none
        } else if let number = UInt16(argument) {
            self = .number(number)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .number(let number): String(number)
        case .none: "none"
        }
    }

    var number: UInt16? { if case .number(let number) = self { number } else { nil } }
}

/// What goes wrong from the start.
struct SimulateFaultOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Refuse with this reason what would be accepted, or a share of it: ServiceUnavailable=1%, of one of several services "
                + "fcm:UNAVAILABLE=1%, of where it gives out access tokens fcm:token:invalid_grant. May be given again.",
            valueName: "reason"))
    var fail: [String] = []

    @Option(help: "Name this many seconds in the answers of --fail, where the service names some.")
    var retryAfter: Int?

    @Option(help: "How much longer every request takes, such as 20ms.", transform: Budgets.duration)
    var latency: Duration?

    @Option(help: "Break a connection off instead of answering, every so many requests.")
    var resetEvery: Int?

    @Option(help: "Break one of so many connections off at its first request.")
    var resetConnectionsEvery: Int?

    @Option(help: "Say GOAWAY, or Connection: close, every so many requests.")
    var goawayEvery: Int?

    @Option(help: "Never answer one of so many requests.")
    var stallEvery: Int?

    @Option(help: "What lots are drawn with, for the shares of --fail.")
    var seed: UInt64 = 1

    func validate() throws {
        let counts = [resetEvery, resetConnectionsEvery, goawayEvery, stallEvery, retryAfter]
        guard counts.allSatisfy({ $0.map { (1...1_000_000).contains($0) } ?? true }) else {
            throw ValidationError("numbers of requests, connections and seconds are from 1 to 1000000")
        }
        guard retryAfter == nil || !fail.isEmpty else {
            throw ValidationError("--retry-after is the pause that refusals name: order some with --fail, such as --fail 503=10%")
        }
        for text in fail { _ = try SimulatedRefusal(text) }
    }

    var connections: ConnectionFaults.Plan {
        var plan = ConnectionFaults.Plan()
        plan.latency = latency.map { Int($0 / .milliseconds(1)) } ?? 0
        plan.resetEvery = resetEvery
        plan.resetConnectionsEvery = resetConnectionsEvery
        plan.goAwayEvery = goawayEvery
        plan.stallEvery = stallEvery
        return plan
    }
}

/// `Shutdown`, `Shutdown=1%`, `apns:Shutdown=1%` or, where access tokens are given out, `fcm:token:invalid_grant`: what is asked for
/// with `--fail`.
struct SimulatedRefusal: Sendable {
    let text: String
    /// Nil where none is named.
    var platform: PhonePlatform?
    var reason: String
    /// Where access tokens are given out.
    var isOfTokens = false
    var share: Double = 1

    init(_ text: String) throws {
        self.text = text
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var words = parts[0].split(separator: ":", omittingEmptySubsequences: false)
        reason = String(words.removeLast())
        if words.last == "token" {
            isOfTokens = true
            words.removeLast()
        }
        if let word = words.popLast() {
            guard words.isEmpty, let platform = PhonePlatform(service: String(word)) else {
                throw ValidationError("--fail \(text): there is no service \(word); services are apns, fcm, wns and webpush")
            }
            self.platform = platform
        }
        guard parts.count == 2 else { return }
        let isPercentage = parts[1].hasSuffix("%")
        guard let number = Double(isPercentage ? parts[1].dropLast() : parts[1]),
            case let share = isPercentage ? number / 100 : number, share > 0, share <= 1
        else { throw ValidationError("--fail \(text): the share is a number above 0 and up to 1, or a percentage such as 1%") }
        self.share = share
    }
}
