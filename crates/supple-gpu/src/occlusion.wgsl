// How much light arrives: soft shadows of the key light, and ambient obscurance.

@group(1) @binding(0) var depth_map: Samples;
@group(1) @binding(1) var surface_map: WholeSamples;
@group(1) @binding(2) var shadow_map: texture_2d<f32>;
@group(1) @binding(3) var veil_map: texture_2d<f32>;
@group(1) @binding(4) var transmittance_map: texture_2d<f32>;

// One of 16 turns in a 4 × 4 pattern, or of four in a 2 × 2 one, that is averaged exactly when the light is used.
fn pattern(p: vec2i) -> Spiral {
    let within_square = frame.counts.y - 1u;
    let x = u32(p.x) & within_square;
    let y = u32(p.y) & within_square;
    let swapped = x ^ y;
    let turn = ((swapped & 1u) << 3u) | ((y & 1u) << 2u) | (swapped & 2u) | ((y & 2u) >> 1u);
    // Four directions a quarter, near enough to even and cheaper than sine and cosine.
    let within = f32(turn & 3u) / 4.0;
    let first = normalize(vec2f(1.0 - within, within));
    let side = select(first, vec2f(-first.y, first.x), (turn & 4u) != 0u);
    return Spiral(f32(turn) / 16.0, select(side, -side, (turn & 8u) != 0u));
}

// How open the surroundings are, after scalable ambient obscurance.
fn openness(pixel: vec2i, position: vec3f, n: vec3f, spiral: Spiral) -> f32 {
    let radius = frame.occlusion.x;
    let per_unit = 0.5 * frame.size.y / (frame.unproject.y + frame.unproject.w * -position.z);
    let radius_px = min(radius * per_unit, 0.3 * frame.size.y);
    let limit = vec2i(frame.size.xy) - 1;
    var direction = spiral.direction;
    var sum = 0.0;
    for (var i = 0u; i < frame.taps.x; i++) {
        direction = GOLDEN * direction;
        let reach = (f32(i) + spiral.turn + 0.1) / f32(frame.taps.x);
        let q = clamp(pixel + vec2i(round(direction * max(reach * radius_px, 1.0))), vec2i(0), limit);
        let depth = textureLoad(depth_map, q, 0).r;
        if depth < NOTHING {
            let v = view_position(vec2f(q) + 0.5 + FIRST_SAMPLE, distance_of(depth)) - position;
            let vv = dot(v, v);
            let near = max(1.0 - vv / (radius * radius), 0.0);
            sum += near * near * near * max(dot(v, n) - 0.012 * radius, 0.0) * inverseSqrt(vv + 1e-4 * radius * radius);
        }
    }
    return clamp(1.0 - frame.occlusion.y * sum / f32(max(frame.taps.x, 1u)), 0.0, 1.0);
}

// Share and colour of the key light that passes the transparent bodies.
fn veil(r: Receiver, spiral: Spiral) -> vec3f {
    let at = r.at;
    let map_width = frame.shadow.x * frame.shadow.z;
    let softness = frame.lights[KEY].towards.w;
    let search = min(softness * at.z * frame.shadow.y, frame.shadow.w) / map_width;
    var direction = spiral.direction;
    var sheets = 0.0;
    var depth = 0.0;
    for (var i = 0u; i < frame.taps.y; i++) {
        direction = GOLDEN * direction;
        let reach = sqrt((f32(i) + 0.5) / f32(frame.taps.y)) * search;
        let uv = at.xy + direction * reach;
        let texel = shadow_texel(uv);
        let z = textureLoad(veil_map, texel, 0).r;
        if z < shaded_above(r, texel, reach) && inside(uv) {
            sheets += 1.0;
            depth += z;
        }
    }
    if sheets == 0.0 {
        return vec3f(1.0);
    }
    let gap = (at.z - depth / sheets) * frame.shadow.y;
    let width = clamp(softness * gap / map_width, 2.0 / frame.shadow.z, frame.shadow.w / map_width);
    var passed = vec3f(0.0);
    for (var i = 0u; i < frame.taps.z; i++) {
        direction = GOLDEN * direction;
        let reach = sqrt((f32(i) + 0.25 + 0.5 * spiral.turn) / f32(frame.taps.z)) * width;
        let uv = at.xy + direction * reach;
        let texel = shadow_texel(uv);
        let behind = inside(uv) && textureLoad(veil_map, texel, 0).r < shaded_above(r, texel, reach);
        passed += select(vec3f(1.0), textureLoad(transmittance_map, texel, 0).rgb, behind);
    }
    return passed / f32(frame.taps.z);
}

// Openness in seven bits, and in the eighth whether the surface is level.
fn openness_and(open: f32, n: vec3f) -> f32 {
    return (round(open * 127.0) * 2.0 + f32(is_level(n))) / 255.0;
}

// The distance of what was looked at, and the light that arrives there in four times eight bits.
@fragment
fn occlude(@builtin(position) at: vec4f) -> @location(0) vec2u {
    // Never; but a shader that may leave a pixel out is compiled once by the software driver, and one
    // that may not twice, for whole tiles and for edges.
    if frame.counts.w != 0u {
        discard;
    }
    let texel = vec2i(at.xy);
    let pixel = texel * i32(frame.light.x);
    let depth = textureLoad(depth_map, pixel, 0).r;
    return vec2u(bitcast<u32>(distance_of(depth)), pack4x8unorm(arriving(pixel, depth, pattern(texel))));
}

fn arriving(pixel: vec2i, depth: f32, spiral: Spiral) -> vec4f {
    if depth >= NOTHING {
        return vec4f(1.0);
    }
    let n = from_whole(textureLoad(surface_map, pixel, 0).rg);
    let in_view = view_position(vec2f(pixel) + 0.5 + FIRST_SAMPLE, distance_of(depth));
    let position = (frame.world_from_view * vec4f(in_view, 1.0)).xyz;
    // The floor beyond the reach of the bodies is open.
    var open = 1.0;
    if distance(position, frame.center.xyz) < frame.flags.w {
        open = openness(pixel, in_view, (frame.view_from_world * vec4f(n, 0.0)).xyz, spiral);
    }
    let n_l = dot(n, frame.lights[KEY].towards.xyz);
    if n_l <= 0.0 {
        return vec4f(0.0, 0.0, 0.0, openness_and(open, n));
    }
    let r = receiver(position, n, n_l);
    let margin = frame.shadow.w / (frame.shadow.x * frame.shadow.z);
    var key = vec3f(1.0);
    if all(r.at.xy > vec2f(-margin)) && all(r.at.xy < vec2f(1.0 + margin)) {
        key = vec3f(key_visibility(r, spiral, frame.taps.yz));
        if VEILED {
            key *= veil(r, spiral);
        }
    }
    return vec4f(key, openness_and(open, n));
}
