// The shaded surface of opaque bodies.

// rgb: how much of the key light arrives, a: how much of the light from everywhere.
@group(2) @binding(0) var occlusion_map: texture_2d<f32>;
@group(2) @binding(1) var depth_map: texture_2d<f32>;

// The occlusion of this surface: at silhouettes the pixel may belong to another one, then the
// neighbour nearest in depth speaks for it.
fn occlusion_at(pixel: vec2i, depth: f32) -> vec4f {
    let limit = vec2i(frame.size.xy) - 1;
    var best = pixel;
    var best_distance = abs(textureLoad(depth_map, pixel, 0).r - depth);
    if best_distance > 0.01 * depth {
        for (var i = 0; i < 8; i++) {
            let k = i + select(0, 1, i >= 4);
            let p = clamp(pixel + vec2i(k % 3 - 1, k / 3 - 1), vec2i(0), limit);
            let distance = abs(textureLoad(depth_map, p, 0).r - depth);
            if distance < best_distance {
                best = p;
                best_distance = distance;
            }
        }
    }
    return textureLoad(occlusion_map, best, 0);
}

@fragment
fn shade(p: Placed) -> @location(0) vec4f {
    let n = seen_normal(p);
    let c = body_color(p);
    if c.a < body.surface.z {
        discard;
    }
    let depth = -(frame.view_from_world * vec4f(p.position, 1.0)).z;
    let o = occlusion_at(vec2i(p.clip.xy), depth);
    return vec4f(lit(c.rgb, n, p.position, o.rgb, o.a), 1.0);
}

// The floor: the backdrop itself, less the light that something keeps away.
@fragment
fn shade_ground(p: Placed) -> @location(0) vec4f {
    let depth = -(frame.view_from_world * vec4f(p.position, 1.0)).z;
    let o = occlusion_at(vec2i(p.clip.xy), depth);
    let share = frame.occlusion.z;
    let arrives = share * o.rgb + (1.0 - share) * vec3f(o.a);
    let fade = smoothstep(1.0, 0.4, distance(p.position, frame.center.xyz) / frame.center.w);
    let light = mix(vec3f(1.0), arrives, fade);
    let covered = vec4f(0.0, 0.0, 0.0, 1.0 - min(light.r, min(light.g, light.b)));
    return select(vec4f(backdrop(p.clip.xy) * light, 1.0), covered, frame.flags.x > 0.5);
}
