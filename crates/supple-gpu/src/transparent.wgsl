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

// Share of the key light that the opaque bodies let through; fewer taps than for one of them, since
// fragments are many.
fn key_arrives(position: vec3f, n: vec3f, toward: f32) -> f32 {
    let r = receiver(position, n, toward);
    if !inside(r.at.xy) {
        return 1.0;
    }
    return key_visibility(r, Spiral(0.5, vec2f(1.0, 0.0)), frame.taps.yz / 2u);
}

// The covered samples that no opaque body hides. `slope` is how depth changes from pixel to pixel.
fn visible_samples(clip: vec4f, slope: vec2f, covered: u32) -> u32 {
    var places = array<vec2f, 4>(
        vec2f(-0.125, -0.375), vec2f(0.375, -0.125), vec2f(-0.375, 0.125), vec2f(0.125, 0.375));
    var visible = 0u;
    // What lies in the plane of an opaque surface is hidden by it.
    let behind = clip.z + 1e-4 * abs(clip.z + frame.flags.z / frame.flags.y);
    for (var s = 0; s < SAMPLES; s++) {
        let z = behind + select(0.0, dot(slope, places[s]), SAMPLES > 1);
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
    let towards_key = dot(n, frame.lights[KEY].towards.xyz);
    let key = vec3f(key_arrives(position, select(-n, n, towards_key > 0.0), abs(towards_key)));
    let edge = 1.0 - abs(dot(n, v));
    let through = 0.5 * edge * edge * edge;
    var light = vec3f(0.0);
    for (var side = 0u; side < frame.counts.z; side++) {
        let behind = side == 1u;
        light += select(1.0 - through, through, behind) * lit(m, select(n, -n, behind), v, key, 1.0);
    }
    return vec4f(light * cover, cover);
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
