import ArgumentParser
import PushLab

extension WireKind: ExpressibleByArgument {}
