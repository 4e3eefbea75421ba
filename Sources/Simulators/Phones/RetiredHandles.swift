/// The retired handles that the push services still report as unregistered, oldest first. Older ones become unknown, as at real services,
/// so that new handles cannot exhaust the memory.
struct RetiredHandles: Sendable {
    /// Maximum number of retired handles of one phone.
    static let limitPerPhone = 100
    /// Maximum number of handles of all removed phones together.
    static let limitOfRemovedPhones = 100_000

    /// Addresses of handles; the first `start` of them are forgotten.
    private struct Queue: Sendable {
        private var addresses: [String] = []
        private var start = 0

        var count: Int { addresses.count - start }
        var all: ArraySlice<String> { addresses[start...] }

        mutating func append(_ address: String) { addresses.append(address) }

        mutating func removeFirst() -> String {
            let first = addresses[start]
            addresses[start] = ""
            start += 1
            // Moves the rest rarely.
            if start > addresses.count / 2 {
                addresses.removeFirst(start)
                start = 0
            }
            return first
        }
    }

    private var byPhone: [PhoneID: Queue] = [:]
    private var ofRemovedPhones = Queue()

    /// Adds a handle of a phone. Returns the address of a handle to forget, if any.
    mutating func add(_ address: String, of phone: PhoneID) -> String? {
        byPhone[phone, default: Queue()].append(address)
        guard let count = byPhone[phone]?.count, count > Self.limitPerPhone else { return nil }
        return byPhone[phone]?.removeFirst()
    }

    /// Adds the handles of a phone that is being removed to those of removed phones. Returns the addresses of handles to forget.
    mutating func removed(_ phone: PhoneID) -> [String] {
        for address in byPhone.removeValue(forKey: phone)?.all ?? [] { ofRemovedPhones.append(address) }
        var forgotten: [String] = []
        while ofRemovedPhones.count > Self.limitOfRemovedPhones { forgotten.append(ofRemovedPhones.removeFirst()) }
        return forgotten
    }
}
