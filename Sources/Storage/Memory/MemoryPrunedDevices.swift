import PushModel

/// The pruned devices of a hub, ordered by number.
struct MemoryPrunedDevices {
    private var devices: [PrunedDevice] = []
    private var last: Int64 = 0
    private var offered: Int64 = 0
    private var acknowledged: Int64 = 0

    /// Devices with numbers below `number`, or from the latest if nil; latest first.
    func devices(_ filter: PrunedFilter, below number: Int64?, limit: Int) -> [PrunedDevice] {
        Array(devices.reversed().lazy.filter { $0.number < number ?? .max && filter.matches($0) }.prefix(limit))
    }

    mutating func commit(_ change: RegistrationChange) {
        for device in change.pruned { append(device) }
        for number in change.restored {
            guard let index = devices.firstIndex(where: { $0.number == number }) else { continue }
            var device = devices.remove(at: index)
            guard number <= offered else { continue }
            device.isRestored = true
            device.time = change.restoredAt ?? device.time
            append(device)
        }
    }

    private mutating func append(_ device: PrunedDevice) {
        var device = device
        last += 1
        device.number = last
        devices.append(device)
    }

    mutating func forget(before time: Timestamp, limit: Int, keepsUnreported: Bool) -> Int {
        let number = keepsUnreported ? acknowledged : .max
        let old = Set(
            devices.filter { $0.time < time && $0.number <= number }.sorted { $0.time < $1.time }.prefix(limit).map(\.number))
        devices.removeAll { old.contains($0.number) }
        return old.count
    }

    var unreported: [PrunedDevice] { devices.filter { $0.number > acknowledged } }

    mutating func offer(_ limit: Int) -> [PrunedDevice] {
        let found = Array(unreported.prefix(limit))
        offered = max(offered, found.last?.number ?? 0)
        return found
    }

    mutating func acknowledge(upTo number: Int64) {
        (offered, acknowledged) = (max(offered, number), max(acknowledged, number))
        devices.removeAll { $0.isRestored && $0.number <= number }
    }

    mutating func dropUnreported(beyond most: Int) -> Int {
        let unreported = unreported
        guard unreported.count > most else { return 0 }
        let dropped = unreported.dropLast(most)
        if let last = dropped.last { acknowledge(upTo: last.number) }
        return dropped.count
    }
}
