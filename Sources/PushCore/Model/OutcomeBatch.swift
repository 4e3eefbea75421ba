/// What became of some devices of one notification, in order and packed: 66 bytes for a device of APNs, where a `DeviceOutcome` has
/// 200 and its texts.
///
/// What many devices have in common is held once, as a kind. The rest of each is a row of bytes; stores keep these as they are.
package struct OutcomeBatch: Sendable {
    /// What devices have in common.
    package struct Kind: Sendable, Hashable {
        package var platform: Platform
        package var handlePlatform: Platform
        package var templateName: String?
        package var outcome: OutcomeName
        package var reason: String
        package var explanation: String
        /// Of the rendered body, in bytes.
        package var size: Int
        package var isRegistrationRemoved: Bool

        package init(
            platform: Platform, handlePlatform: Platform? = nil, templateName: String?, outcome: OutcomeName, reason: String,
            explanation: String, size: Int, isRegistrationRemoved: Bool = false
        ) {
            self.platform = platform
            self.handlePlatform = handlePlatform ?? platform
            self.templateName = templateName
            self.outcome = outcome
            self.reason = reason
            self.explanation = explanation
            self.size = size
            self.isRegistrationRemoved = isRegistrationRemoved
        }
    }

    package struct Moment: Sendable, Equatable {
        /// Of the first device.
        package var first: Int
        package var time: Timestamp

        package init(first: Int, time: Timestamp) { (self.first, self.time) = (first, time) }
    }

    /// In the order in which they came up.
    package private(set) var kinds: [Kind] = []
    /// One behind the other: see `OutcomeRow`.
    package private(set) var rows: [UInt8] = []
    /// When the devices from a number on had their verdicts, in order; of those before the first one that is not known.
    package private(set) var moments: [Moment] = []
    /// Where in `rows` each device begins.
    private var starts: [Int] = []
    private var numbers: [Kind: Int] = [:]
    /// Of the kind of the device before; most have the same.
    private var lastKind = 0

    package init() {}

    package init(_ devices: some Sequence<DeviceOutcome>) {
        for device in devices { append(device) }
    }

    /// A batch as it was kept.
    ///
    /// Nil where the rows are not those of `count` devices of these kinds, or the moments not theirs.
    package init?(kinds: [Kind], rows: [UInt8], count: Int, moments: [Moment] = []) {
        var starts: [Int] = []
        let isWhole = rows.withUnsafeBytes { rows in
            // A row has two bytes or more.
            guard count >= 0, count <= rows.count / 2 else { return false }
            starts.reserveCapacity(count)
            var cursor = ByteCursor(rows)
            for _ in 0..<count {
                starts.append(cursor.offset)
                OutcomeRow.skip(&cursor, kinds: kinds)
                if cursor.isBeyond { return false }
            }
            return cursor.isAtEnd
        }
        let areInOrder = zip(moments, moments.dropFirst()).allSatisfy { $0.first < $1.first }
        guard isWhole, areInOrder, moments.allSatisfy({ (0..<count).contains($0.first) }) else { return nil }
        (self.kinds, self.rows, self.starts, self.moments) = (kinds, rows, starts, moments)
    }

    // MARK: - Building

    /// Devices that are added from now on have their verdicts at that moment.
    package mutating func mark(_ time: Timestamp) {
        if moments.last?.first == count { moments.removeLast() }
        if moments.last?.time != time { moments.append(Moment(first: count, time: time)) }
    }

    package mutating func append(_ device: DeviceOutcome) {
        let kind = lastKind < kinds.count && kinds[lastKind].isKind(of: device) ? lastKind : number(of: Kind(of: device))
        append(
            kind: kind, registrationID: device.registrationID, installationID: device.installationID, handle: device.handle,
            pushID: device.pushID)
    }

    /// The number of a kind in this batch, for `append(kind:)`. A new kind gets one.
    package mutating func number(of kind: Kind) -> Int {
        if numbers.isEmpty {
            for (number, kind) in kinds.enumerated() { numbers[kind] = number }
        }
        if let number = numbers[kind] { return number }
        kinds.append(kind)
        numbers[kind] = kinds.count - 1
        return kinds.count - 1
    }

    /// - Parameters:
    ///   - kind: a number that this batch gave; the handle is one of its platform.
    ///   - pushID: the push service's id of the push.
    package mutating func append(
        kind: Int, registrationID: RegistrationID?, installationID: String?, handle: DeviceHandle, pushID: String?
    ) {
        begin(kind)
        OutcomeRow.pack(registrationID, installationID, handle, pushID, kind: kind, to: &rows)
    }

    /// The same from columns, without a text on the way.
    ///
    /// - Parameters:
    ///   - token: of APNs.
    ///   - pushID: the bytes of a UUID, which is read in lower case; nil for none.
    package mutating func append(
        kind: Int, registration: RegistrationNumbers?, token: UnsafeRawBufferPointer, pushID: (UInt64, UInt64)?
    ) {
        begin(kind)
        OutcomeRow.pack(registration, token, pushID, kind: kind, to: &rows)
    }

    private mutating func begin(_ kind: Int) {
        lastKind = kind
        starts.append(rows.count)
    }

    /// The number of a device's kind: to look for some without reading all.
    package func kind(at position: Int) -> Int {
        rows.withUnsafeBytes { rows in
            var cursor = ByteCursor(rows, from: starts[position])
            return Int(cursor.number())
        }
    }

    /// Where the devices stand whose registrations were removed.
    package var removed: [Int] {
        guard kinds.contains(where: \.isRegistrationRemoved) else { return [] }
        return indices.filter { kinds[kind(at: $0)].isRegistrationRemoved }
    }

    /// The same devices in batches of at most so many.
    package func parts(of most: Int) -> [OutcomeBatch] {
        guard count > most else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: most).map { start in
            var part = OutcomeBatch()
            for position in start..<Swift.min(start + most, count) {
                if let time = time(at: position) { part.mark(time) }
                part.append(self[position])
            }
            return part
        }
    }

    /// When a device had its verdict; nil where that was not kept.
    package func time(at position: Int) -> Timestamp? {
        var (low, high) = (0, moments.count)
        while low < high {
            let middle = (low + high) / 2
            if moments[middle].first <= position { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : moments[low - 1].time
    }
}

extension OutcomeBatch: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { starts.count }

    /// Put together from its bytes each time.
    package subscript(position: Int) -> DeviceOutcome {
        rows.withUnsafeBytes { rows in
            var cursor = ByteCursor(rows, from: starts[position])
            return OutcomeRow.device(&cursor, kinds: kinds)
        }
    }
}

extension OutcomeBatch: Equatable {
    package static func == (left: OutcomeBatch, right: OutcomeBatch) -> Bool { left.elementsEqual(right) }
}

extension OutcomeBatch.Kind {
    fileprivate init(of device: DeviceOutcome) {
        self.init(
            platform: device.platform, handlePlatform: device.handle.platform, templateName: device.templateName, outcome: device.outcome,
            reason: device.reason, explanation: device.explanation, size: device.size, isRegistrationRemoved: device.isRegistrationRemoved)
    }

    fileprivate func isKind(of device: DeviceOutcome) -> Bool {
        outcome == device.outcome && size == device.size && platform == device.platform && handlePlatform == device.handle.platform
            && isRegistrationRemoved == device.isRegistrationRemoved && templateName == device.templateName && reason == device.reason
            && explanation == device.explanation
    }
}
