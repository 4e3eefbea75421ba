package import PushModel

/// Stores everything in memory, for the lifetime of the process.
package struct MemoryStorage: StorageEngine {
    package let namespace: any NamespaceStore
    package let accounts: any AccountStore & SessionStore
    package let securePayloads: any SecurePayloadStore
    package let providerTokens: any ProviderTokenStore = MemoryProviderTokenStore()
    package let keyValues: any KeyValueSpaces = MemoryKeyValueSpaces()
    package let auditTrail: any AuditTrail = MemoryAuditTrail()
    package let runs: any AutomationStore
    package let approvals: any ApprovalStore = MemoryApprovalStore()

    package init() {
        let runs = MemoryRunStore()
        (namespace, self.runs) = (MemoryNamespaceStore(runs: runs), runs)
        let payloads = MemorySecurePayloadStore()
        (accounts, securePayloads) = (MemoryAccountStore(securePayloads: payloads), payloads)
    }

    package func backup(to path: String) throws(PushError) { throw StorageError.memory }
    package func restore(
        from path: String, _ secrets: LostSecrets, whenChecked: @Sendable () async -> Void
    ) throws(PushError) -> RenewedSecrets {
        throw StorageError.memory
    }
    package func checkWriting() {}
    package var damage: PushError? { nil }
    package func checkPages() {}
    package func close() {}
}
