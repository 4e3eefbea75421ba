package import PushModel
import Synchronization

/// Provider tokens in memory.
package final class MemoryProviderTokenStore: ProviderTokenStore {
    private let tokens = Mutex<[String: ProviderToken]>([:])

    package init() {}

    package func token(_ key: String) -> ProviderToken? { tokens.withLock { $0[key] } }

    package func put(_ token: ProviderToken, for key: String) { tokens.withLock { $0[key] = token } }
}
