// Transparent bodies, one layer after the other from front to back.

@group(2) @binding(0) var opaque_depth: Depths;
@group(2) @binding(1) var peeled_depth: Depths;
@group(2) @binding(2) var shadow_map: texture_depth_2d;

// Leaves only what is behind the layers already drawn and in front of the opaque bodies. Depth of one
// surface may differ by its last bits from pass to pass.
fn is_next(clip: vec4f, i: u32) -> bool {
    let pixel = vec2i(clip.xy);
    let peeled = textureLoad(peeled_depth, pixel, i);
    return clip.z < textureLoad(opaque_depth, pixel, i) && clip.z > peeled + 2.5e-7;
}

@fragment
fn peel_samples(p: PlacedPlain, @builtin(sample_index) i: u32) {
    if !is_next(p.clip, i) {
        discard;
    }
}

@fragment
fn peel_single(p: PlacedPlain) {
    if !is_next(p.clip, 0u) {
        discard;
    }
}

// Share of the key light, four texels softly.
fn key_arrives(position: vec3f, n: vec3f) -> f32 {
    let on_map = (frame.shadow_from_world * vec4f(position + n * frame.shadow.x * 2.0, 1.0)).xyz;
    if any(on_map.xy <= vec2f(0.0)) || any(on_map.xy >= vec2f(1.0)) {
        return 1.0;
    }
    let at = on_map.xy * frame.shadow.z - 0.5;
    let f = fract(at);
    let limit = vec2i(i32(frame.shadow.z) - 1);
    var rows: array<f32, 4>;
    for (var k = 0; k < 4; k++) {
        let z = textureLoad(shadow_map, clamp(vec2i(floor(at)) + vec2i(k & 1, k >> 1u), vec2i(0), limit), 0);
        rows[k] = select(1.0, 0.0, z < on_map.z - 0.004);
    }
    return mix(mix(rows[0], rows[1], f.x), mix(rows[2], rows[3], f.x), f.y);
}

// Light and cover of the layer, multiplied. A slanted sheet is longer to look through.
@fragment
fn shade_layer(p: Placed) -> @location(0) vec4f {
    let n = seen_normal(p.clip, p.normal);
    let c = body_color(p);
    let position = world_position(p.clip.xy, distance_of(p.clip.z));
    let v = towards_eye(position);
    let slant = clamp(abs(dot(n, v)), 0.25, 1.0);
    let cover = 1.0 - pow(1.0 - clamp(c.a * body.surface.w, 0.0, 1.0), 1.0 / slant);
    let m = Material(c.rgb, body.surface.x, body.surface.y);
    return vec4f(lit(m, n, v, vec3f(key_arrives(position, n)), 1.0) * cover, cover);
}
