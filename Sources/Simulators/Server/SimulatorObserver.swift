package import NIOCore

/// Callbacks for what happens in a simulator server.
package struct SimulatorObserver: Sendable {
    /// Receives a line for every notification request, before the response is sent.
    package var ledger: LedgerSink?
    /// Called for events on the phones.
    package var phones: PhoneObserver?
    /// Called, for each port, when connections must wait because file handles or memory are exhausted.
    package var resourceShortage: @Sendable (IOError) -> Void

    package init(
        ledger: LedgerSink? = nil, phones: PhoneObserver? = nil, resourceShortage: @escaping @Sendable (IOError) -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.phones = phones
        self.resourceShortage = resourceShortage
    }
}
