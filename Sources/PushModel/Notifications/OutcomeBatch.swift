/// The results of some devices of one notification, in order, as packed rows. An APNs device takes 66 bytes; a `DeviceOutcome` takes 200
/// and its strings.
///
/// Values that many devices share are stored once, as a kind. The rest of each device is a row of bytes, which stores write unchanged.
package struct OutcomeBatch: Sendable {
    /// The values that many devices have in common.
    package struct Kind: Sendable, Hashable {
        package var platform: Platform
        package var handlePlatform: Platform
        package var templateName: String?
        package var outcome: OutcomeName
        package var reason: String
        package var cause: OutcomeCause
        /// Size of the rendered body, in bytes.
        package var size: Int
        package var isRegistrationRemoved: Bool

        package init(
            platform: Platform, handlePlatform: Platform? = nil, templateName: String?, outcome: OutcomeName, reason: String,
            cause: OutcomeCause, size: Int, isRegistrationRemoved: Bool = false
        ) {
            self.platform = platform
            self.handlePlatform = handlePlatform ?? platform
            self.templateName = templateName
            self.outcome = outcome
            self.reason = reason
            self.cause = cause
            self.size = size
            self.isRegistrationRemoved = isRegistrationRemoved
        }
    }

    package struct ResultTime: Sendable, Equatable {
        /// Index of the first device with this time.
        package var first: Int
        package var time: Timestamp

        package init(first: Int, time: Timestamp) { (self.first, self.time) = (first, time) }
    }

    /// In the order of first use.
    package private(set) var kinds: [Kind] = []
    /// The rows of all devices, concatenated: see `OutcomeRow`.
    package private(set) var rows: [UInt8] = []
    /// When results arrived: each entry holds for the devices from its index on. Unknown for devices before the first entry.
    package private(set) var resultTimes: [ResultTime] = []
    /// Offset in `rows` at which each device begins.
    private var starts: [Int] = []
    private var numbers: [Kind: Int] = [:]
    /// The kind of the previous device, because most devices have the same kind.
    private var lastKind = 0

    package init() {}

    package init(_ devices: some Sequence<DeviceOutcome>) {
        for device in devices { append(device) }
    }

    /// Restores a stored batch.
    ///
    /// Nil if the rows are not those of `count` devices of these kinds, or if `resultTimes` does not fit them.
    package init?(kinds: [Kind], rows: [UInt8], count: Int, resultTimes: [ResultTime] = []) {
        var starts: [Int] = []
        let isComplete = rows.withUnsafeBytes { rows in
            // A row has at least two bytes.
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
        let areInOrder = zip(resultTimes, resultTimes.dropFirst()).allSatisfy { $0.first < $1.first }
        guard isComplete, areInOrder, resultTimes.allSatisfy({ (0..<count).contains($0.first) }) else { return nil }
        (self.kinds, self.rows, self.starts, self.resultTimes) = (kinds, rows, starts, resultTimes)
    }

    // MARK: - Building

    /// Sets the time of the results that are appended from now on.
    package mutating func mark(_ time: Timestamp) {
        if resultTimes.last?.first == count { resultTimes.removeLast() }
        if resultTimes.last?.time != time { resultTimes.append(ResultTime(first: count, time: time)) }
    }

    package mutating func append(_ device: DeviceOutcome) {
        let kind = lastKind < kinds.count && kinds[lastKind].isKind(of: device) ? lastKind : number(of: Kind(of: device))
        append(
            kind: kind, registrationID: device.registrationID, installationID: device.installationID, handle: device.handle,
            pushID: device.pushID)
    }

    /// The number of a kind in this batch, for `append(kind:)`. Adds the kind if it is new.
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
    ///   - kind: a number from `number(of:)`; the handle belongs to the kind's platform.
    ///   - pushID: the push service's id of the push.
    package mutating func append(
        kind: Int, registrationID: RegistrationID?, installationID: String?, handle: DeviceHandle, pushID: String?
    ) {
        begin(kind)
        OutcomeRow.pack(registrationID, installationID, handle, pushID, kind: kind, to: &rows)
    }

    /// Appends a device of APNs from column values, without making strings.
    ///
    /// - Parameters:
    ///   - token: the bytes of the device token.
    ///   - pushID: the bytes of a UUID, which reads back in lower case; nil for none.
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

    /// The number of a device's kind, for searches that need not decode every row.
    package func kind(at position: Int) -> Int {
        rows.withUnsafeBytes { rows in
            var cursor = ByteCursor(rows, from: starts[position])
            return Int(cursor.number())
        }
    }

    /// Indexes of the devices whose registrations were removed.
    package var removed: [Int] {
        guard kinds.contains(where: \.isRegistrationRemoved) else { return [] }
        return indices.filter { kinds[kind(at: $0)].isRegistrationRemoved }
    }

    /// The same devices in batches of at most `most`.
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

    /// When a device's result arrived; nil if it was not recorded.
    package func time(at position: Int) -> Timestamp? {
        var (low, high) = (0, resultTimes.count)
        while low < high {
            let middle = (low + high) / 2
            if resultTimes[middle].first <= position { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : resultTimes[low - 1].time
    }
}

extension OutcomeBatch: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { starts.count }

    /// Decodes the row on each access.
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
            reason: device.reason, cause: device.cause, size: device.size, isRegistrationRemoved: device.isRegistrationRemoved)
    }

    fileprivate func isKind(of device: DeviceOutcome) -> Bool {
        outcome == device.outcome && size == device.size && platform == device.platform && handlePlatform == device.handle.platform
            && isRegistrationRemoved == device.isRegistrationRemoved && templateName == device.templateName && reason == device.reason
            && cause == device.cause
    }
}
