/// The number of devices that a send reaches at a given time.
package struct AudienceReach: Sendable, Equatable {
    package var platforms: [Platform: Int]
    /// The send goes to an APNs broadcast channel, which counts as one device. Only Apple knows the number of its subscribers.
    package var isUnknown: Bool

    package init(platforms: [Platform: Int] = [:], isUnknown: Bool = false) { (self.platforms, self.isUnknown) = (platforms, isUnknown) }

    package var devices: Int { platforms.values.reduce(0, +) }

    /// The number of devices; nil if unknown.
    package var count: Int? { isUnknown ? nil : devices }

    /// `12,430 devices`
    package var words: String { Notice.devices(count) }
}
