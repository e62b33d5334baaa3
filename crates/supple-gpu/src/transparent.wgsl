// Transparent bodies: every fragment is put into a list of its pixel.

struct Fragment {
    // Place of the next fragment plus one, 0 at the end; the top four bits are the samples covered.
    next: u32,
    depth: f32,
    // The normal in two times twelve bits, then roughness and metal.
    surface: u32,
    // Square roots of colour and opacity, in eight bits each.
    color: u32,
}

@group(2) @binding(0) var opaque_depth: Samples;
// How many fragments there are, then the first one of each pixel.
@group(2) @binding(1) var<storage, read_write> heads: array<atomic<u32>>;
@group(2) @binding(2) var<storage, read_write> fragments: array<Fragment>;

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

// Density at a slant (7.3), then what hides it: a bad triangle is not to show at a silhouette.
fn smoke_cover(p: Placed, n: vec3f) -> f32 {
    let v = towards_eye(world_position(p.clip.xy, distance_of(p.clip.z)));
    let slant = max(abs(dot(n, v)), 0.03);
    let thin = clamp(1.0 - p.uv.x, 1e-4, 1.0);
    return (1.0 - pow(thin, 1.0 / slant)) * p.uv.y;
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
    let n = seen_normal(p.normal, p.front);
    let c = body_color(p);
    var cover = c.a * body.surface.w;
    if body.extra.w > 0.5 {
        cover = smoke_cover(p, n) * body.surface.w;
    }
    let color = clamp(vec4f(c.rgb, cover), vec4f(0.0), vec4f(1.0));
    let visible = visible_samples(p.clip, slope, covered);
    if visible == 0u || color.a < 0.0005 {
        return;
    }
    let at = atomicAdd(&heads[0], 1u);
    if at >= arrayLength(&fragments) {
        return;
    }
    let pixel = 1u + u32(p.clip.y) * u32(frame.size.x) + u32(p.clip.x);
    let next = atomicExchange(&heads[pixel], at + 1u);
    let normal = vec2u(octahedral(n) * 2047.0 + 2047.5);
    let surface = normal.x << 20u | normal.y << 8u | u32(round(surface_bits() * 255.0));
    fragments[at] =
        Fragment((next & 0x0fffffffu) | (visible << 28u), p.clip.z, surface, pack4x8unorm(sqrt(color)));
}
