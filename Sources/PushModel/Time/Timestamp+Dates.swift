extension Timestamp {
    /// Reads a date in any format that Azure's clients write: `2026-11-21T05:28:52` with or without fraction and zone, the same with
    /// apostrophes around the `T`, `11/21/2026 05:28:52`, and `Sat, 21 Nov 2026 05:28:52 GMT`. UTC if there is no zone.
    package init?(date text: String) {
        let plain = text.filter { $0 != "'" }
        if let timestamp = Timestamp(iso8601: plain) ?? Timestamp(httpDate: plain) {
            self = timestamp
            return
        }
        let parts = plain.split(separator: " ", maxSplits: 1)
        let date = (parts.first ?? "").split(separator: "/")
        guard date.count == 3, date[2].count == 4, date.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let month = Int(date[0]), let day = Int(date[1])
        else { return nil }
        let time = parts.count > 1 ? "T\(parts[1])" : ""
        self.init(iso8601: "\(date[2])-\(month.padded(2))-\(day.padded(2))\(time)")
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the only format that RFC 9110, section 5.6.7 lets senders use; the same as in RFC 1123.
    package init?(httpDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]),
            let month = months.firstIndex(of: String(words[2])), let year = Int(words[3]), (1970...9999).contains(year),
            (1...CivilDate.daysIn(month: month + 1, year: year)).contains(day)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0..<61).contains(clock[2])
        else { return nil }
        let days = CivilDate(year: year, month: month + 1, day: day).daysSince1970
        self.init(seconds: days * 86_400 + Int64(clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }
}
