// The picture: the sketch is lit, transparent bodies come over it, highlights are rolled off.

@group(1) @binding(0) var depth_map: Samples;
@group(1) @binding(1) var normal_map: WholeSamples;
@group(1) @binding(2) var color_map: Samples;
// rgb: how much of the key light arrives, a: how much of the light from everywhere.
@group(1) @binding(3) var occlusion_map: texture_2d<f32>;
@group(1) @binding(4) var veil_map: texture_2d<f32>;

// The occlusion of a surface at distance d: at silhouettes the pixel may have been measured on
// another surface, then the neighbour nearest in depth speaks for it.
fn occlusion_at(pixel: vec2i, d: f32, tolerance: f32) -> vec4f {
    let limit = vec2i(frame.size.xy) - 1;
    var best = pixel;
    var best_gap = 1e38;
    // The pixel itself first, then those around it.
    for (var i = 0; i < i32(frame.counts.y); i++) {
        let k = (i + 4) % 9;
        let p = clamp(pixel + vec2i(k % 3 - 1, k / 3 - 1), vec2i(0), limit);
        let gap = abs(distance_of(textureLoad(depth_map, p, 0).r) - d);
        if gap < best_gap {
            best = p;
            best_gap = gap;
        }
        if best_gap <= tolerance {
            break;
        }
    }
    return textureLoad(occlusion_map, best, 0);
}

// The floor: the backdrop itself, less the light that something keeps away.
fn floor_light(pixel: vec2f, position: vec3f, o: vec4f) -> vec4f {
    let share = frame.occlusion.z;
    let arrives = share * o.rgb + (1.0 - share) * vec3f(o.a);
    let fade = smoothstep(1.0, 0.4, distance(position, frame.center.xyz) / frame.center.w);
    let light = mix(vec3f(1.0), arrives, fade);
    // Whoever lays the picture over something does so in encoded values.
    let darkest = min(light.r, min(light.g, light.b));
    let shadow = vec4f(0.0, 0.0, 0.0, 1.0 - pow(darkest, 1.0 / 2.2));
    return select(vec4f(backdrop(pixel) * light, 1.0), shadow, frame.flags.x > 0.5);
}

fn surface_light(pixel: vec2f, d: f32, n: vec3f, color: vec4f, o: vec4f) -> vec4f {
    let position = world_position(pixel, d);
    let bits = u32(round(color.a * 255.0));
    if bits == 0u {
        return floor_light(pixel, position, o);
    }
    let m = Material(color.rgb, f32(bits & 63u) / 63.0, f32(bits >> 6u) / 3.0);
    return vec4f(lit(m, n, towards_eye(position), o.rgb, o.a), 1.0);
}

// Distances within which samples of a pixel belong to one surface.
fn tolerance_at(d: f32) -> f32 {
    return 0.03 * frame.occlusion.x + 6.0 * frame.size.w * (frame.unproject.y + frame.unproject.w * d);
}

// Light of the opaque bodies in a pixel: samples of one surface are lit together, once. Nearly all
// pixels show one surface or nothing.
fn opaque_light(pixel: vec2i) -> vec4f {
    let samples = frame.taps.w;
    let all_done = (1u << samples) - 1u;
    var sum = vec4f(0.0);
    var done = 0u;
    for (var s = 0u; s < samples && done != all_done; s++) {
        if (done & (1u << s)) != 0u {
            continue;
        }
        var d = 0.0;
        var bits = 0.0;
        var n = vec3f(0.0);
        var color = vec3f(0.0);
        var count = 0.0;
        for (var t = s; t < samples; t++) {
            let depth = textureLoad(depth_map, pixel, i32(t)).r;
            let other = textureLoad(color_map, pixel, i32(t));
            let there = distance_of(depth);
            if t == s {
                d = there;
                bits = other.a;
            }
            let free = (done & (1u << t)) == 0u && depth < NOTHING;
            if free && abs(there - d) < tolerance_at(d) && other.a == bits {
                n += from_whole(textureLoad(normal_map, pixel, i32(t)).rg);
                color += other.rgb * other.rgb;
                count += 1.0;
                done |= 1u << t;
            }
        }
        if count > 0.0 {
            let o = occlusion_at(pixel, d, tolerance_at(d));
            sum += count * surface_light(vec2f(pixel) + 0.5, d, normalize(n), vec4f(color / count, bits), o);
        }
    }
    return sum / f32(SAMPLES);
}

@fragment
fn develop(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = vec2i(at.xy);
    let behind = opaque_light(pixel);
    var over = behind;
    if VEILED {
        let veil = textureLoad(veil_map, pixel, 0);
        over = veil + (1.0 - veil.a) * behind;
    }
    if frame.flags.x > 0.5 {
        let straight = neutral(over.rgb / max(over.a, 1e-4));
        return vec4f(encoded(straight) + dither(vec2u(at.xy)) / 255.0, over.a);
    }
    let light = over.rgb + (1.0 - over.a) * backdrop(at.xy);
    return vec4f(encoded(neutral(light)) + dither(vec2u(at.xy)) / 255.0, 1.0);
}
