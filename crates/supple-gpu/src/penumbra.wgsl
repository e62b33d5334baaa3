// Soft shadows from the map of what the key light sees.

// Turn by the golden angle: successive taps of a spiral never line up.
const GOLDEN = mat2x2f(-0.737369, 0.675490, -0.675490, -0.737369);

// How a spiral of taps is turned in a pixel: as a share of a whole turn, and its first direction.
struct Spiral {
    turn: f32,
    direction: vec2f,
}

fn shadow_texel(uv: vec2f) -> vec2i {
    return clamp(vec2i(uv * frame.shadow.z), vec2i(0), vec2i(i32(frame.shadow.z) - 1));
}

fn inside(uv: vec2f) -> bool {
    return all(uv >= vec2f(0.0)) && all(uv <= vec2f(1.0));
}

// Share of the key light that passes the opaque bodies: percentage-closer soft shadows. The width
// of the penumbra grows with the distance to what casts it. `taps` are those of the search for what
// blocks the light and of the filter.
fn key_visibility(at: vec3f, slope: f32, spiral: Spiral, taps: vec2u) -> f32 {
    let map_width = frame.shadow.x * frame.shadow.z;
    let depth_range = frame.shadow.y;
    let softness = frame.lights[KEY].towards.w;
    let search = min(softness * at.z * depth_range, frame.shadow.w) / map_width;
    // Over a slanted surface the depth of the surface itself changes within the disc.
    let lean = slope * map_width / depth_range;
    let texel = 1.0 / frame.shadow.z;
    var direction = spiral.direction;
    var blockers = 0.0;
    var depth = 0.0;
    for (var i = 0u; i < taps.x; i++) {
        direction = GOLDEN * direction;
        let reach = sqrt((f32(i) + 0.5) / f32(taps.x)) * search;
        let uv = at.xy + direction * reach;
        let z = textureLoad(shadow_map, shadow_texel(uv), 0).r;
        if z < 1.0 && inside(uv) && z < at.z - lean * min(reach, 24.0 * texel) - 0.0005 {
            blockers += 1.0;
            depth += z;
        }
    }
    if blockers == 0.0 {
        return 1.0;
    }
    let gap = (at.z - depth / blockers) * depth_range;
    let width = clamp(softness * gap / map_width, 1.5 * texel, frame.shadow.w / map_width);
    var passed = 0.0;
    for (var i = 0u; i < taps.y; i++) {
        direction = GOLDEN * direction;
        let reach = sqrt((f32(i) + 0.25 + 0.5 * spiral.turn) / f32(taps.y)) * width;
        let uv = at.xy + direction * reach;
        let z = textureLoad(shadow_map, shadow_texel(uv), 0).r;
        let blocked = z < 1.0 && inside(uv) && z < at.z - lean * (reach + texel) - 0.0002;
        passed += select(1.0, 0.0, blocked);
    }
    return passed / f32(taps.y);
}
