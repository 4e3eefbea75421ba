/// How many devices a notification for later may reach: at its moment there may be more than when it was asked for, and nobody is there
/// whose leave could be asked.
package struct AudienceLeave: Sendable, Equatable {
    package let devices: Int
    /// Whose leave it is: `the 1,000 that key:ops may reach without leave`
    package let words: String

    package init(devices: Int, words: String) { (self.devices, self.words) = (devices, words) }

    private static let start = "at its moment it would have reached "
    private var end: String { ", more than \(words): nobody got it" }

    /// What a notification says of itself that nobody got for that.
    func notice(of reach: AudienceReach) -> String { "\(Self.start)\(reach.words)\(end)" }

    /// How many it would have reached, in words, if that is among the notices of a notification.
    func excess(in notices: [String]) -> String? {
        guard let notice = notices.first(where: { $0.hasPrefix(Self.start) && $0.hasSuffix(end) }) else { return nil }
        return String(notice.dropFirst(Self.start.count).dropLast(end.count))
    }
}
