//! Sets the linker's options for an addon of Node.

fn main() {
    napi_build::setup();
}
