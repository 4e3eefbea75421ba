import ArgumentParser
import PushModel
import Simulators

/// Options of `pushhost simulate` for every service.
struct SimulateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("TLS port on 127.0.0.1; 0 picks a free one.", valueName: "port|none"))
    var port: SimulatedPort = .number(8091)

    @Option(help: ArgumentHelp("Port for the control plane and all services over plain HTTP/1.1; 0 picks a free one.", valueName: "port"))
    var controlPort: UInt16 = 8090

    @Option(
        help: ArgumentHelp(
            "Host and port in handles and credentials, such as localhost:9443, if clients reach the TLS port through another one.",
            valueName: "host:port"))
    var `public`: String?

    @Option(
        help: ArgumentHelp(
            "Folder for the keys, the TLS certificate and the ledger (pushhost simulate apns has no ledger by default).",
            valueName: "folder"),
        completion: .directory)
    var data: String?

    @Option(help: ArgumentHelp("File to which a JSON line is appended for every notification.", valueName: "file"), completion: .file())
    var ledger: String?

    @Flag(help: "Create a phone for every valid handle that is pushed to.")
    var adopt = false

    @Option(
        help: ArgumentHelp(
            "Maximum number of phones that --adopt creates. (default: 1000000, and 20000000 for pushhost simulate apns)",
            valueName: "count"))
    var phones: Int?

    @OptionGroup(title: "Faults")
    var faults: SimulateFaultOptions

    @Option(help: ArgumentHelp("Number of threads that share the connections.", valueName: "count"))
    var threads: Int = 1

    func validate() throws {
        guard (1...256).contains(threads) else {
            throw ValidationError.invalidValue("--threads", threads, expected: "a whole number from 1 to 256")
        }
        if let phones, !(1...20_000_000).contains(phones) {
            throw ValidationError.invalidValue("--phones", phones, expected: "a whole number from 1 to 20000000")
        }
        guard phones == nil || adopt else { throw ValidationError.usage("--phones needs --adopt", hint: "add --adopt, or remove --phones") }
        if let authority = `public`, !Self.isAuthority(authority) {
            throw ValidationError.invalidValue("--public", authority, expected: "a host and a port, such as localhost:9443")
        }
    }

    /// Whether the text is a host of letters, digits, dots and hyphens, with an optional port.
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

/// A port number, or none.
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

/// Options for faults that apply from the start.
struct SimulateFaultOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Reason with which to reject requests that would be accepted, or a share of them: ServiceUnavailable=1%. With several "
                + "services: fcm:UNAVAILABLE=1%. For the token endpoint: fcm:token:invalid_grant. May be repeated.",
            valueName: "reason"))
    var fail: [String] = []

    @Option(help: ArgumentHelp("Retry-After of the responses of --fail, if the service sends one.", valueName: "seconds"))
    var retryAfter: Int?

    @Option(help: ArgumentHelp("Extra time for every request, such as 20ms.", valueName: "duration"), transform: LuaLimitOptions.duration)
    var latency: Duration?

    @Option(help: ArgumentHelp("Reset the connection at every Nth request.", valueName: "N"))
    var resetEvery: Int?

    @Option(help: ArgumentHelp("Reset every Nth connection at its first request.", valueName: "N"))
    var resetConnectionsEvery: Int?

    @Option(help: ArgumentHelp("Send GOAWAY (HTTP/1.1: Connection: close) every N requests.", valueName: "N"))
    var goawayEvery: Int?

    @Option(help: ArgumentHelp("Leave every Nth request unanswered.", valueName: "N"))
    var stallEvery: Int?

    @Option(help: ArgumentHelp("Random seed for the shares of --fail.", valueName: "number"))
    var seed: UInt64 = 1

    func validate() throws {
        let counts = [
            ("--reset-every", resetEvery), ("--reset-connections-every", resetConnectionsEvery), ("--goaway-every", goawayEvery),
            ("--stall-every", stallEvery), ("--retry-after", retryAfter),
        ]
        for case (let option, let count?) in counts where !(1...1_000_000).contains(count) {
            throw ValidationError.invalidValue(option, count, expected: "a whole number from 1 to 1000000")
        }
        guard retryAfter == nil || !fail.isEmpty else {
            throw ValidationError.usage("--retry-after needs --fail", hint: "add --fail, such as --fail 503=10%")
        }
        do throws(PushError) {
            for text in fail { _ = try SimulatedFailureOption(text) }
        } catch {
            throw ValidationError(reporting: error)
        }
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

/// A value of `--fail`: `Shutdown`, `Shutdown=1%`, `apns:Shutdown=1%` or, for the token endpoint, `fcm:token:invalid_grant`.
struct SimulatedFailureOption: Sendable {
    let text: String
    /// Nil if the text does not name a service.
    var platform: PhonePlatform?
    var reason: String
    /// Whether the token endpoint rejects requests, instead of the service.
    var isOfTokens = false
    var share: Double = 1

    /// Throws `usage.value`.
    init(_ text: String) throws(PushError) {
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
                throw PushError("usage.value", "--fail: unknown push service \"\(word)\"", hint: "use apns, fcm, wns or webpush")
            }
            self.platform = platform
        }
        guard parts.count == 2 else { return }
        let isPercentage = parts[1].hasSuffix("%")
        guard let number = Double(isPercentage ? parts[1].dropLast() : parts[1]),
            case let share = isPercentage ? number / 100 : number, share > 0, share <= 1
        else { throw .invalidValue("--fail", text, expected: "a share above 0 and up to 1, or a percentage such as 1%") }
        self.share = share
    }
}
