// A corner of the one triangle that covers the picture.
fn corner(i: u32) -> vec4f {
    return vec4f(f32(i32(i & 1u) * 4 - 1), f32(i32(i >> 1u) * 4 - 1), 0.0, 1.0);
}

@vertex
fn cover(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return corner(i);
}
