/// Callbacks that a change of the lab causes; they run after the lock is released.
struct Effects: Sendable {
    private(set) var events: [PhoneEvent] = []
    private(set) var wakes: [AppDelivery] = []
    /// The phones that may have changed visibly.
    private(set) var touched: [PhoneID] = []

    mutating func record(_ kind: PhoneEvent.Kind, _ push: String, _ phone: Phone, _ now: Int64) {
        events.append(PhoneEvent(time: now, phone: phone.id, push: push, kind: kind))
    }

    mutating func wake(_ delivery: AppDelivery) {
        wakes.append(delivery)
    }

    mutating func touch(_ phone: PhoneID) {
        if !touched.contains(phone) { touched.append(phone) }
    }
}
