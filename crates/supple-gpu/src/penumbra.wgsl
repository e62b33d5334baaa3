// Soft shadows from the map of what the key light sees.

// Turn by the golden angle: successive taps of a spiral never line up.
const GOLDEN = mat2x2f(-0.737369, 0.675490, -0.675490, -0.737369);

// How a spiral of taps is turned in a pixel: as a share of a whole turn, and its first direction.
struct Spiral {
    turn: f32,
    direction: vec2f,
}

// What the light falls on: where it is on the map, and how the depth of its plane changes across the
// map. Without the plane, a surface at a slant would either shade itself or let light in where it
// touches another one.
struct Receiver {
    at: vec3f,
    lean: vec2f,
}

// `n` is on the side of the light; `toward` is its cosine.
fn receiver(position: vec3f, n: vec3f, toward: f32) -> Receiver {
    let at = (frame.shadow_from_world * vec4f(position + n * frame.shadow.x, 1.0)).xyz;
    let width = frame.shadow.x * frame.shadow.z;
    let across = (frame.shadow_from_world * vec4f(n, 0.0)).xy * width * width;
    return Receiver(at, across / (frame.shadow.y * max(toward, 0.16)));
}

fn shadow_texel(uv: vec2f) -> vec2i {
    return clamp(vec2i(uv * frame.shadow.z), vec2i(0), vec2i(i32(frame.shadow.z) - 1));
}

fn inside(uv: vec2f) -> bool {
    return all(uv >= vec2f(0.0)) && all(uv <= vec2f(1.0));
}

// Depth on the map at which a texel shades the receiver. The receiver is not quite plane: `reach` away
// it may rise a little.
fn shaded_above(r: Receiver, texel: vec2i, reach: f32) -> f32 {
    let offset = (vec2f(texel) + 0.5) / frame.shadow.z - r.at.xy;
    let rise = ROUGHNESS * reach * frame.shadow.x * frame.shadow.z / frame.shadow.y;
    return min(r.at.z + dot(r.lean, offset) - rise - 0.0002, 1.0);
}

// Slope against its plane that a surface may have without shading itself.
const ROUGHNESS: f32 = 0.12;

// Share of the key light that passes the opaque bodies: percentage-closer soft shadows. The width
// of the penumbra grows with the distance to what casts it. `taps` are those of the search for what
// blocks the light and of the filter, which are one loop: drivers compile its body once.
fn key_visibility(r: Receiver, spiral: Spiral, taps: vec2u) -> f32 {
    let map_width = frame.shadow.x * frame.shadow.z;
    let softness = frame.lights[KEY].towards.w;
    let widest = frame.shadow.w / map_width;
    var direction = spiral.direction;
    var width = min(softness * r.at.z * frame.shadow.y / map_width, widest);
    var share = 1.0 / f32(taps.x);
    var at = 0.5 * share;
    var blockers = 0.0;
    var depth = 0.0;
    var i = 0u;
    loop {
        if i == taps.x {
            // Nothing is in the way, or everything is: the filter is never wider than the search.
            if blockers == 0.0 || blockers == f32(taps.x) {
                return select(0.0, 1.0, blockers == 0.0);
            }
            let gap = (r.at.z - depth / blockers) * frame.shadow.y;
            width = clamp(softness * gap / map_width, 1.5 / frame.shadow.z, widest);
            share = 1.0 / f32(taps.y);
            at = (0.25 + 0.5 * spiral.turn) * share;
            blockers = 0.0;
        }
        direction = GOLDEN * direction;
        let reach = sqrt(at) * width;
        let uv = r.at.xy + direction * reach;
        let texel = shadow_texel(uv);
        let z = textureLoad(shadow_map, texel, 0).r;
        if z < shaded_above(r, texel, reach) && inside(uv) {
            blockers += 1.0;
            depth += z;
        }
        at += share;
        i++;
        if i >= taps.x + taps.y {
            break;
        }
    }
    return 1.0 - blockers / f32(taps.y);
}
