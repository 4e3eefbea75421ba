import Lua
import Testing

@testable import Bindings

@Suite struct TypeDescriptionTests {
    @Test func `every type that a binding returns has a description, and every description is used`() {
        let named = Set(BindingRegistry.standard.bindings.flatMap { $0.returns?.names ?? [] })
        for name in named { #expect(BindingRegistry.standard.type(named: name) != nil, "\(name)") }
        let mentioned = BindingRegistry.standard.types.flatMap(\.fields).flatMap { Binding.Returns(type: $0.type, summary: "").names }
        let taken = BindingRegistry.standard.bindings.flatMap(\.parameters).flatMap {
            Binding.Returns(type: $0.type.annotation, summary: "").names
        }
        let given = PhaseReference.entries.compactMap(\.argument?.name)
        for type in BindingRegistry.standard.types where !type.isCallable {
            #expect((named.union(mentioned).union(taken).union(given)).contains(type.name), "\(type.name) is mentioned nowhere")
        }
    }

    @Test func `every receiver of a method is a type with that method`() {
        for binding in BindingRegistry.standard.bindings {
            guard let receiver = binding.receiver else { continue }
            let types = BindingRegistry.standard.types.filter {
                BindingRegistry.standard.methods(of: $0).contains { $0.name == binding.name }
            }
            #expect(types.map { $0.shortName.lowercased() } == [receiver], "\(binding.name)")
        }
    }

    @Test func `the described fields of handles are their fields`() {
        #expect(TypeDescription.session.fields.map(\.name).sorted() == SessionObject.type.propertyNames)
        #expect(TypeDescription.device.fields.map(\.name).sorted() == DeviceObject.type.propertyNames)
        for (description, type) in [
            (TypeDescription.draft, HookObjects.send), (.sent, HookObjects.sent), (.group, HookObjects.group), (.ended, HookObjects.ended),
            (.candidate, HookObjects.registration), (.login, HookObjects.login), (.secureFetch, HookObjects.secureFetch),
            (.routeRequest, HookObjects.request),
        ] {
            #expect(description.fields.map(\.name).sorted() == type.propertyNames)
        }
        #expect(TypeDescription.simulator.fields.map(\.name).sorted() == SimulatorObject.type.propertyNames)
    }

    @Test(arguments: BindingRegistry.standard.types.map(\.name))
    func `a type is described by sentences and has fields of its own`(name: String) throws {
        let type = try #require(BindingRegistry.standard.type(named: name))
        #expect(type.name.hasPrefix("push."))
        #expect(type.shortName.first?.isUppercase == true)
        #expect(type.summary.last == ".")
        let names = type.fields.map(\.name)
        #expect(Set(names).count == names.count)
        for field in type.fields { #expect(!field.summary.isEmpty && !field.type.isEmpty && field.summary.last != ".") }
        #expect(BindingRegistry.standard.type(named: type.shortName)?.name == name)
    }
}
