import ArgumentParser
import PushLab
import PushModel
import Simulators

// Types of other targets that options have as values.
extension WireKind: ExpressibleByArgument {}
extension MissedPolicy: ExpressibleByArgument {}
extension OutcomeName: ExpressibleByArgument {}
extension RunRecord.State: ExpressibleByArgument {}
extension RunTrigger.Kind: ExpressibleByArgument {}
extension APNsEnvironment: ExpressibleByArgument {}
