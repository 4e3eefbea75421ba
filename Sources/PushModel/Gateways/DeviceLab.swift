/// Simulated devices that scripts control, in this process or in a server's lab.
package protocol DeviceLab: LabDevices, DeviceController, InboxReader {}
