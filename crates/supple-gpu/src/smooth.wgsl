// Averages the 4 × 4 pattern of the occlusion pass within one surface: along rows, then columns.

@group(1) @binding(0) var depth_map: Samples;
@group(1) @binding(1) var normal_map: WholeSamples;
@group(1) @binding(2) var occlusion_map: texture_2d<f32>;

fn average(pixel: vec2i, step: vec2i) -> vec4f {
    let depth = textureLoad(depth_map, pixel, 0).r;
    let here = textureLoad(occlusion_map, pixel, 0);
    if depth >= NOTHING {
        return here;
    }
    let d = distance_of(depth);
    let position = view_position(vec2f(pixel) + 0.5, d);
    // Nothing to smooth where light comes from everywhere and a step away too.
    let far = vec4f(textureLoad(occlusion_map, clamp(pixel - 2 * step, vec2i(0), vec2i(frame.size.xy) - 1), 0));
    if all(here == vec4f(1.0)) && all(far == vec4f(1.0)) {
        return here;
    }
    let n = (frame.view_from_world * vec4f(from_whole(textureLoad(normal_map, pixel, 0).rg), 0.0)).xyz;
    let reach = 0.04 * frame.occlusion.x + 2.0 * frame.size.w * (frame.unproject.y + frame.unproject.w * d);
    let limit = vec2i(frame.size.xy) - 1;
    var sum = here;
    var weights = 1.0;
    for (var i = -2; i < i32(frame.counts.z) - 2; i++) {
        let q = clamp(pixel + i * step, vec2i(0), limit);
        if i != 0 {
            let off_plane = abs(dot(view_position(vec2f(q) + 0.5, distance_of(textureLoad(depth_map, q, 0).r)) - position, n));
            let weight = clamp(2.0 - 2.0 * off_plane / reach, 0.0, 1.0);
            sum += weight * textureLoad(occlusion_map, q, 0);
            weights += weight;
        }
    }
    return sum / weights;
}

// The first of two draws goes along rows, the second along columns.
@vertex
fn cover_along(@builtin(vertex_index) i: u32, @builtin(instance_index) along: u32) -> Along {
    return Along(corner(i), along);
}

struct Along {
    @builtin(position) at: vec4f,
    @location(0) @interpolate(flat) along: u32,
}

@fragment
fn smooth_along(p: Along) -> @location(0) vec4f {
    return average(vec2i(p.at.xy), select(vec2i(1, 0), vec2i(0, 1), p.along == 1u));
}
