// Transparent bodies: every fragment is put into a list of its pixel.

struct Fragment {
    // Place of the next fragment plus one, 0 at the end; the top four bits are the samples covered.
    next: u32,
    depth: f32,
    // Light times cover (as a share of the brightest), and cover, in 16 bits each.
    light_rg: u32,
    light_ba: u32,
}

const BRIGHTEST: f32 = 8.0;

@group(2) @binding(0) var opaque_depth: Samples;
@group(2) @binding(1) var shadow_map: texture_2d<f32>;
// How many fragments there are, then the first one of each pixel.
@group(2) @binding(2) var<storage, read_write> heads: array<atomic<u32>>;
@group(2) @binding(3) var<storage, read_write> fragments: array<Fragment>;

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
        let z = textureLoad(shadow_map, clamp(vec2i(floor(at)) + vec2i(k & 1, k >> 1u), vec2i(0), limit), 0).r;
        rows[k] = select(1.0, 0.0, z < on_map.z - 0.004);
    }
    return mix(mix(rows[0], rows[1], f.x), mix(rows[2], rows[3], f.x), f.y);
}

// The covered samples that no opaque body hides. `slope` is how depth changes from pixel to pixel.
fn visible_samples(clip: vec4f, slope: vec2f, covered: u32) -> u32 {
    var places = array<vec2f, 4>(
        vec2f(-0.125, -0.375), vec2f(0.375, -0.125), vec2f(-0.375, 0.125), vec2f(0.125, 0.375));
    var visible = 0u;
    for (var s = 0; s < SAMPLES; s++) {
        let z = clip.z + select(0.0, dot(slope, places[s]), SAMPLES > 1);
        let hidden = z >= textureLoad(opaque_depth, vec2i(clip.xy), s).r;
        visible |= select(1u << u32(s), 0u, hidden);
    }
    return visible & covered;
}

// Light and cover of a sheet. Seen at a slant it is longer to look through.
fn sheet_light(p: Placed) -> vec4f {
    let n = seen_normal(p.normal, p.front);
    let c = body_color(p);
    let position = world_position(p.clip.xy, distance_of(p.clip.z));
    let v = towards_eye(position);
    let slant = clamp(abs(dot(n, v)), 0.25, 1.0);
    let cover = 1.0 - pow(1.0 - clamp(c.a * body.surface.w, 0.0, 1.0), 1.0 / slant);
    let m = Material(c.rgb, body.surface.x, body.surface.y);
    return vec4f(lit(m, n, v, vec3f(key_arrives(position, n)), 1.0) * cover, cover);
}

@fragment
fn gather_samples(p: Placed, @builtin(sample_mask) covered: u32) {
    gather(p, covered);
}

@fragment
fn gather_single(p: Placed) {
    gather(p, 1u);
}

fn gather(p: Placed, covered: u32) {
    let slope = vec2f(dpdx(p.clip.z), dpdy(p.clip.z));
    let light = sheet_light(p);
    let visible = visible_samples(p.clip, slope, covered);
    if visible == 0u || light.a < 0.001 {
        return;
    }
    let at = atomicAdd(&heads[0], 1u);
    if at >= arrayLength(&fragments) {
        return;
    }
    let pixel = 1u + u32(p.clip.y) * u32(frame.size.x) + u32(p.clip.x);
    let next = atomicExchange(&heads[pixel], at + 1u);
    fragments[at] = Fragment((next & 0x0fffffffu) | (visible << 28u), p.clip.z,
        pack2x16unorm(light.rg / BRIGHTEST), pack2x16unorm(vec2f(light.b / BRIGHTEST, light.a)));
}
