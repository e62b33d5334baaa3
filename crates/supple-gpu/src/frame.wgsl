// What every pass of one frame shares. Put in front of each shader.

struct Light {
    // Direction to the light; w is the tangent of its angular radius.
    towards: vec4f,
    color: vec4f,
}

// The one that casts shadows.
const KEY: u32 = 0u;

struct Frame {
    clip_from_world: mat4x4f,
    view_from_world: mat4x4f,
    world_from_view: mat4x4f,
    // x, y in 0..1 across the shadow map, z in 0..1 from the light.
    shadow_from_world: mat4x4f,
    // Where the camera stands; w is 1 with perspective, 0 without.
    eye: vec4f,
    // Key, fill and rim light.
    lights: array<Light, 3>,
    sky_color: vec4f,
    bounce_color: vec4f,
    up: vec4f,
    // At depth d a pixel at (x, y) in −1..1 is at (x, y)·(k0 + k1 d): k0.xy, k1.xy.
    unproject: vec4f,
    // Width and height in pixels, and their inverses.
    size: vec4f,
    // World units a texel, world units from near to far, texels across, widest penumbra in world units.
    shadow: vec4f,
    // Radius in world units, strength, share of key light on the floor.
    occlusion: vec4f,
    // Center of the scene, and the distance at which the floor has faded.
    center: vec4f,
    backdrop_center: vec4f,
    backdrop_edge: vec4f,
    // 1 if the backdrop is transparent; a, b of distance = 1/(a depth + b), or a depth + b without
    // perspective; distance from the center beyond which nothing is obscured.
    flags: vec4f,
    // Taps of obscurance, of the search for blockers and of the filter of shadows; samples a pixel. Not
    // constants: loops of a known length are unrolled by drivers, which takes them seconds. Loops that run at least once
    // end where they are left, not where they begin: in software all lanes take a last, empty turn otherwise.
    taps: vec4u,
    // Lights, texels along an edge of the square over which the light that arrives is averaged, sides of a sheet, and 0.
    counts: vec4u,
    // Pixels along an edge of a texel of the light that arrives.
    light: vec4u,
}

@group(0) @binding(0) var<uniform> frame: Frame;

// What the depth buffer holds where there is nothing.
const NOTHING: f32 = 1.0;

// Distance along the view of a value in the depth buffer.
fn distance_of(depth: f32) -> f32 {
    let d = frame.flags.y * depth + frame.flags.z;
    return select(d, 1.0 / d, frame.eye.w > 0.5);
}

// The background: a soft pool of light, a little darker to the edges.
fn backdrop(pixel: vec2f) -> vec3f {
    let p = (pixel * frame.size.zw - vec2f(0.5, 0.46)) * vec2f(1.0, 1.1);
    return mix(frame.backdrop_center.rgb, frame.backdrop_edge.rgb, smoothstep(0.0, 1.0, 1.25 * length(p)));
}

// Unit vectors in two whole numbers of 16 bits: an octahedron unfolded to a square.
fn whole(n: vec3f) -> vec2u {
    return vec2u(octahedral(n) * 32767.0 + 32767.5);
}

fn from_whole(e: vec2u) -> vec3f {
    return from_octahedral(vec2f(e) / 32767.0 - 1.0);
}

fn octahedral(n: vec3f) -> vec2f {
    let p = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
    let folded = (1.0 - abs(p.yx)) * select(vec2f(-1.0), vec2f(1.0), p >= vec2f(0.0));
    return select(folded, p, n.z >= 0.0);
}

fn from_octahedral(e: vec2f) -> vec3f {
    var n = vec3f(e, 1.0 - abs(e.x) - abs(e.y));
    let t = max(-n.z, 0.0);
    n.x += select(t, -t, n.x >= 0.0);
    n.y += select(t, -t, n.y >= 0.0);
    return normalize(n);
}

// True for what is level: the floor, and what lies flat. It must not take its light from the side of
// a body that touches it, nor the body from it.
fn is_level(n: vec3f) -> bool {
    return dot(n, frame.up.xyz) > 0.9999;
}

// Where in camera space a pixel at distance d is.
fn view_position(pixel: vec2f, d: f32) -> vec3f {
    let ndc = (pixel * frame.size.zw * 2.0 - 1.0) * vec2f(1.0, -1.0);
    return vec3f(ndc * (frame.unproject.xy + frame.unproject.zw * d), -d);
}

fn world_position(pixel: vec2f, d: f32) -> vec3f {
    return (frame.world_from_view * vec4f(view_position(pixel, d), 1.0)).xyz;
}

// Unit vector from a point to the camera.
fn towards_eye(position: vec3f) -> vec3f {
    return normalize(mix(frame.world_from_view[2].xyz, frame.eye.xyz - position, frame.eye.w));
}
