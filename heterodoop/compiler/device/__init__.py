"""The device IR: what a kernel does, with every decision taken; made from the IR by a lowering, printed by `emit`.

`nodes`, `checks` and `program` have the dialect, `lower` makes a device `Program` of an `ir.Program`, `text` prints it
(`--emit device`). What has no rule becomes `nodes.Unsupported`: the reasons against the GPU that lie in the region's code
are exactly those nodes.
"""
