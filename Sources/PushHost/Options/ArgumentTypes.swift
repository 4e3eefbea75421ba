import ArgumentParser
import PushLab

// Types of other targets that options have as values.
extension WireKind: ExpressibleByArgument {}
