// Curves and dots of constant width in pixels, drawn over the picture; fainter where a body hides
// them, and paler with distance.

@group(1) @binding(0) var depth_map: Samples;

struct Stroke {
    // pixel, depth, radius in pixels
    @location(0) a: vec4f,
    @location(1) b: vec4f,
    @location(2) color: vec4f,
    // depth at which fading begins, one over its range, tolerance in depth, cover where hidden
    @location(3) cue: vec4f,
    // directions across the joints at a and b, or zero
    @location(4) cuts: vec4f,
}

struct Drawn {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) a: vec4f,
    @location(1) @interpolate(flat) b: vec4f,
    @location(2) @interpolate(flat) color: vec4f,
    @location(3) @interpolate(flat) cue: vec4f,
    @location(4) @interpolate(flat) cuts: vec4f,
}

@vertex
fn stretch(s: Stroke, @builtin(vertex_index) i: u32) -> Drawn {
    let along = s.b.xy - s.a.xy;
    let length = length(along);
    let x = select(vec2f(1.0, 0.0), along / max(length, 1e-9), length > 1e-3);
    let y = vec2f(-x.y, x.x);
    let reach = max(s.a.w, s.b.w) + 1.5;
    var corners = array<u32, 6>(0u, 1u, 2u, 2u, 1u, 3u);
    let right = f32(corners[i] & 1u);
    let up = f32(corners[i] >> 1u) * 2.0 - 1.0;
    let start = mix(s.a.xy - x * reach, s.b.xy + x * reach, right);
    let p = start + up * y * reach;
    let ndc = p * frame.size.zw * 2.0 - 1.0;
    return Drawn(vec4f(ndc.x, -ndc.y, 0.0, 1.0), s.a, s.b, s.color, s.cue, s.cuts);
}

fn is_seen(distance: f32, q: vec2i, tolerance: f32) -> bool {
    let there = textureLoad(depth_map, q, 0).r;
    return there >= NOTHING || distance <= distance_of(there) + tolerance;
}

@fragment
fn ink(d: Drawn) -> @location(0) vec4f {
    let p = d.clip.xy;
    let along = d.b.xy - d.a.xy;
    let t = clamp(dot(p - d.a.xy, along) / max(dot(along, along), 1e-6), 0.0, 1.0);
    let radius = mix(d.a.w, d.b.w, t);
    let off = p - (d.a.xy + t * along);
    let cover = clamp(radius + 0.5 - length(off), 0.0, 1.0) * d.color.a;
    // Where strokes of a curve join, each pixel belongs to one of them.
    let outside = dot(p - d.a.xy, d.cuts.xy) < 0.0 || dot(p - d.b.xy, d.cuts.zw) >= 0.0 && any(d.cuts.zw != vec2f(0.0));
    if cover <= 0.0 || outside {
        discard;
    }
    // Depth runs evenly in its inverse under perspective.
    let even = mix(d.a.z, d.b.z, t);
    let depth = select(even, 1.0 / mix(1.0 / d.a.z, 1.0 / d.b.z, t), frame.eye.w > 0.5);
    let limit = vec2i(frame.size.xy) - 1;
    var seen = 0.0;
    for (var k = 0; k < 4; k++) {
        let q = clamp(vec2i(p + vec2f(f32(k & 1), f32(k >> 1u)) - 0.5), vec2i(0), limit);
        seen += select(0.0, 0.25, is_seen(depth, q, d.cue.z));
    }
    // Round: light from the upper left.
    let side = off / max(radius, 0.5);
    let facing = sqrt(max(1.0 - dot(side, side), 0.0));
    let light = 0.6 + 0.4 * clamp(dot(vec3f(side, facing), vec3f(-0.37, -0.56, 0.74)), 0.0, 1.0);
    let bright = mix(1.0, light, smoothstep(1.0, 2.5, radius));
    let pale = 0.35 * clamp((depth - d.cue.x) * d.cue.y, 0.0, 1.0);
    let color = mix(d.color.rgb * bright, vec3f(0.9), pale);
    return vec4f(color, cover * mix(d.cue.w, 1.0, seen));
}
