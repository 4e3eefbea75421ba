import FoundationEssentials

/// The environment variables of the process.
package enum Environment {
    package static var variables: [String: String] { ProcessInfo.processInfo.environment }
}
