// The picture: the sketch is lit, transparent bodies come over it, highlights are rolled off.

@group(1) @binding(0) var depth_map: Samples;
@group(1) @binding(1) var surface_map: WholeSamples;
// The distance looked at; and in eight bits each how much of the key light arrives in red, green and blue,
// and in seven how much of the light from everywhere, and whether the surface is level.
@group(1) @binding(2) var occlusion_map: texture_2d<u32>;
@group(1) @binding(3) var veil_map: texture_2d<f32>;

// The texels of a square of `edge` texels, two or four, in an order that begins in its middle and goes here and there.
fn texel_at(first: vec2i, i: u32, edge: u32, limit: vec2i) -> vec2i {
    let k = (10u + 3u * i) & (edge * edge - 1u);
    // Shifts, since whole numbers are divided one by one in software.
    return clamp(first + vec2i(vec2u(k & (edge - 1u), k >> (edge >> 1u))), vec2i(0), limit);
}

// The light that arrives at a surface with normal `n` at distance `d`: the mean over the pattern of the occlusion pass,
// of the texels that show the same plane. If none does, the texel nearest in depth speaks for it.
fn occlusion_at(pixel: vec2i, d: f32, n: vec3f) -> vec4f {
    let step = i32(frame.light.x);
    let coarser = vec2u(frame.light.x >> 1u);
    let edge = frame.counts.y;
    let limit = (vec2i(frame.size.xy) - 1) >> coarser;
    let first = ((pixel + (step >> 1u)) >> coarser) - i32(edge >> 1u);
    let position = view_position(vec2f(pixel) + 0.5, d);
    let normal = (frame.view_from_world * vec4f(n, 0.0)).xyz;
    let reach = 0.04 * frame.occlusion.x + 2.0 * frame.size.w * (frame.unproject.y + frame.unproject.w * d);
    let level = u32(is_level(n));
    var sum = vec4f(0.0);
    var weights = 0.0;
    var darkest = vec4f(1.0);
    var nearest = vec4f(1.0);
    var nearest_gap = 1e38;
    var i = 0u;
    loop {
        let q = texel_at(first, i, edge, limit);
        let stored = textureLoad(occlusion_map, q, 0).rg;
        let o = vec4f(unpack4x8unorm(stored.y).rgb, f32(stored.y >> 25u) / 127.0);
        let alike = ((stored.y >> 24u) & 1u) == level;
        let off = view_position(vec2f(q * step) + 0.5, bitcast<f32>(stored.x)) - position;
        let weight = select(0.0, clamp(2.0 - 2.0 * abs(dot(off, normal)) / reach, 0.0, 1.0), alike);
        sum += weight * o;
        weights += weight;
        darkest = min(darkest, o);
        let gap = abs(off.z) + select(frame.occlusion.x, 0.0, alike);
        nearest = select(nearest, o, gap < nearest_gap);
        nearest_gap = min(gap, nearest_gap);
        i++;
        // The pixel itself first, then here and there; mostly there is nothing to average.
        if i == edge * edge || (i == edge && all(darkest == vec4f(1.0))) {
            break;
        }
    }
    return select(nearest, sum / max(weights, 1e-4), weights > 0.05);
}

// The floor: the backdrop itself, less the light that something keeps away.
fn floor_light(behind: vec3f, position: vec3f, o: vec4f) -> vec4f {
    let share = frame.occlusion.z;
    let arrives = share * o.rgb + (1.0 - share) * vec3f(o.a);
    let fade = smoothstep(1.0, 0.4, distance(position, frame.center.xyz) / frame.center.w);
    let light = mix(vec3f(1.0), arrives, fade);
    // Whoever lays the picture over something does so in encoded values: about square roots.
    let darkest = min(light.r, min(light.g, light.b));
    let shadow = vec4f(0.0, 0.0, 0.0, 1.0 - sqrt(darkest));
    return select(vec4f(behind * light, 1.0), shadow, frame.flags.x > 0.5);
}

// Distances within which samples of a pixel belong to one surface.
fn tolerance_at(d: f32) -> f32 {
    return 0.03 * frame.occlusion.x + 6.0 * frame.size.w * (frame.unproject.y + frame.unproject.w * d);
}

// What is seen in one pixel of one surface: the mean of the samples that show it.
struct Seen {
    distance: f32,
    normal: vec3f,
    color: vec3f,
    // How the surface was sketched; 0 is the floor.
    bits: f32,
    samples: f32,
}

fn light_of(seen: Seen, pixel: vec2i, behind: vec3f) -> vec4f {
    let n = normalize(seen.normal);
    let o = occlusion_at(pixel, seen.distance, n);
    let position = world_position(vec2f(pixel) + 0.5, seen.distance);
    let bits = u32(round(seen.bits * 255.0));
    if bits == 0u {
        return floor_light(behind, position, o);
    }
    let m = Material(seen.color / seen.samples, f32(bits & 63u) / 63.0, f32(bits >> 6u) / 3.0);
    return vec4f(lit(m, n, towards_eye(position), o.rgb, o.a), 1.0);
}

// Light of the opaque bodies in a pixel: samples of one surface are lit together, once. Nearly all
// pixels show one surface or nothing.
fn opaque_light(pixel: vec2i, behind: vec3f) -> vec4f {
    let samples = frame.taps.w;
    let all_done = (1u << samples) - 1u;
    var sum = vec4f(0.0);
    var done = 0u;
    var s = 0u;
    loop {
        var seen = Seen(0.0, vec3f(0.0), vec3f(0.0), 0.0, 0.0);
        var t = s;
        loop {
            let depth = textureLoad(depth_map, pixel, i32(t)).r;
            let stored = textureLoad(surface_map, pixel, i32(t));
            let color = vec4f((stored.bbaa >> vec4u(8u, 0u, 8u, 0u)) & vec4u(255u)) / 255.0;
            let there = distance_of(depth);
            let free = (done & (1u << t)) == 0u && depth < NOTHING;
            if free && seen.samples == 0.0 {
                seen.distance = there;
                seen.bits = color.a;
            }
            if free && abs(there - seen.distance) < tolerance_at(there) && color.a == seen.bits {
                // One is enough of the floor.
                if color.a > 0.0 || seen.samples == 0.0 {
                    seen.normal += from_whole(stored.rg);
                }
                seen.color += color.rgb * color.rgb;
                seen.samples += 1.0;
                done |= 1u << t;
            }
            t++;
            if t >= samples {
                break;
            }
        }
        if seen.samples == 0.0 {
            break;
        }
        sum += seen.samples * light_of(seen, pixel, behind);
        s++;
        if s >= samples || done == all_done {
            break;
        }
    }
    return sum / f32(SAMPLES);
}

@fragment
fn develop(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = vec2i(at.xy);
    let behind = backdrop(at.xy);
    var over = opaque_light(pixel, behind);
    // Without transparent bodies it is a few empty pixels.
    let veil = textureLoad(veil_map, min(pixel, vec2i(textureDimensions(veil_map)) - 1), 0);
    over = veil + (1.0 - veil.a) * over;
    let is_clear = frame.flags.x > 0.5;
    let light = select(over.rgb + (1.0 - over.a) * behind, over.rgb / max(over.a, 1e-4), is_clear);
    return vec4f(encoded(neutral(light)) + dither(vec2u(at.xy)) / 255.0, select(1.0, over.a, is_clear));
}
