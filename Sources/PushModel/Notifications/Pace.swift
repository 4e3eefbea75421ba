/// The maximum rate of a notification: devices per second, minute or hour.
package struct Pace: Hashable, Sendable, CustomStringConvertible {
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case second = "s"
        case minute = "m"
        case hour = "h"

        var duration: Duration {
            switch self {
            case .second: .seconds(1)
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            }
        }
    }

    /// At least 1.
    package let count: Int
    package let unit: Unit

    /// Parses `200/s`, `1000/m` or `5000/h`. Throws `send.pace` (400).
    package init(_ text: String) throws(PushError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(parts[0]),
            (1...1_000_000_000).contains(count), let unit = Unit(rawValue: String(parts[1]))
        else {
            throw PushError(
                "send.pace", "invalid pace \"\(text.prefix(40))\"",
                hint: "give devices per second, minute or hour: \"200/s\", \"1000/m\", \"5000/h\"", status: 400)
        }
        self.count = count
        self.unit = unit
    }

    package var description: String { "\(count)/\(unit.rawValue)" }

    /// Devices per batch: those of a quarter of a second, so that a push service gets no bursts.
    package func batch(_ most: Int) -> Int {
        let inQuarter = Double(count) * 250 / Double(unit.duration.milliseconds)
        return max(1, min(most, inQuarter >= Double(most) ? most : Int(inQuarter)))
    }

    /// How long the next batch has to wait after this number of devices.
    package func duration(of devices: Int) -> Duration {
        .milliseconds(Int64((Double(devices) * Double(unit.duration.milliseconds) / Double(count)).rounded(.up)))
    }
}
