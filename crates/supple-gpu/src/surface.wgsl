// Bodies: a sketch of depth, normals and colours that is lit later.

struct Body {
    color: vec4f,
    // roughness, metallic, alpha below which there is nothing, opacity
    surface: vec4f,
    // low end, one over the range, row of the colour map in 0..1, 1 if there is a field
    field: vec4f,
    // colour and opacity of the wireframe
    wire: vec4f,
    // width of the wireframe in pixels, number of contours, 1 for the floor, 1 for smoke
    extra: vec4f,
    // value and width, then colour, of each contour
    contours: array<vec4f, 16>,
}

@group(1) @binding(0) var<uniform> body: Body;
@group(1) @binding(1) var base_texture: texture_2d<f32>;
@group(1) @binding(2) var base_sampler: sampler;
@group(1) @binding(3) var colormaps: texture_2d<f32>;
@group(1) @binding(4) var colormap_sampler: sampler;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) uv: vec2f,
    @location(4) field: f32,
}

// At edges, values are taken inside the triangle: outside they would be extrapolated.
struct Placed {
    @builtin(position) clip: vec4f,
    @builtin(front_facing) front: bool,
    @location(0) @interpolate(perspective, centroid) normal: vec3f,
    @location(1) @interpolate(perspective, centroid) color: vec4f,
    @location(2) @interpolate(perspective, centroid) uv: vec2f,
    @location(3) @interpolate(perspective, centroid) field: f32,
    @location(4) corner: vec3f,
}

struct PlacedVertex {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(perspective, centroid) normal: vec3f,
    @location(1) @interpolate(perspective, centroid) color: vec4f,
    @location(2) @interpolate(perspective, centroid) uv: vec2f,
    @location(3) @interpolate(perspective, centroid) field: f32,
    @location(4) corner: vec3f,
}

@vertex
fn place(v: Vertex, @builtin(vertex_index) index: u32) -> PlacedVertex {
    var p: PlacedVertex;
    p.clip = frame.clip_from_world * vec4f(v.position, 1.0);
    p.normal = v.normal;
    // Eight bits hold square roots.
    p.color = v.color * v.color;
    p.uv = v.uv;
    p.field = v.field;
    // Bodies with a wireframe have three vertices a triangle of their own.
    let k = index % 3u;
    p.corner = vec3f(f32(k == 0u), f32(k == 1u), f32(k == 2u));
    return p;
}

// Bodies of one colour or with painted vertices: most of them, and the largest.
struct PlacedPlain {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(perspective, centroid) normal: vec3f,
    @location(1) @interpolate(perspective, centroid) color: vec3f,
}

@vertex
fn place_plain(@location(0) position: vec3f, @location(1) normal: vec3f, @location(2) color: vec4f) -> PlacedPlain {
    return PlacedPlain(frame.clip_from_world * vec4f(position, 1.0), normal, color.rgb * color.rgb);
}

// The normal on the side that is seen: backs are lit like fronts. Normals agree with the winding.
fn seen_normal(normal: vec3f, front: bool) -> vec3f {
    let n = select(-normal, normal, front);
    return select(vec3f(0.0, 0.0, 1.0), normalize(n), dot(n, n) > 1e-6);
}

// Colour and opacity of a body, before light.
fn body_color(p: Placed) -> vec4f {
    var c = body.color * p.color;
    if TEXTURED && body.extra.w < 0.5 {
        c *= textureSample(base_texture, base_sampler, p.uv);
    }
    if MAPPED {
        c = mapped_color(p, c);
    }
    if WIRED {
        c = wired_color(p, c);
    }
    return c;
}

// The colour of the body's field, and its contours.
fn mapped_color(p: Placed, unmapped: vec4f) -> vec4f {
    var c = unmapped;
    let t = (p.field - body.field.x) * body.field.y;
    let mapped = textureSampleLevel(colormaps, colormap_sampler, vec2f(t * (255.0 / 256.0) + 0.5 / 256.0, body.field.z), 0.0).rgb;
    // What is not a number compares false both ways.
    let known = t >= -1e6 && t <= 1e6;
    let shown = select(vec3f(0.25), mapped, known);
    c = select(c, vec4f(shown, c.a), body.field.w > 0.5);
    let slope = fwidth(p.field);
    for (var i = 0u; i < u32(body.extra.y); i++) {
        let contour = body.contours[2u * i];
        let distance_px = abs(p.field - contour.x) / max(slope, 1e-20);
        let cover = clamp(0.5 * contour.y + 0.5 - distance_px, 0.0, 1.0);
        c = vec4f(mix(c.rgb, body.contours[2u * i + 1u].rgb, cover), c.a);
    }
    return c;
}

// The wireframe over a colour.
fn wired_color(p: Placed, c: vec4f) -> vec4f {
    let line_px = p.corner / max(fwidth(p.corner), vec3f(1e-20));
    let nearest = min(line_px.x, min(line_px.y, line_px.z));
    let line = clamp(0.5 * body.extra.x + 0.5 - nearest, 0.0, 1.0) * body.wire.a;
    let wired = body.extra.x > 0.0;
    return select(c, vec4f(mix(c.rgb, body.wire.rgb, line), max(c.a, line)), wired);
}

// The normal in two whole numbers; in the other two, in eight bits each, square roots of the colour, and the
// surface: 0 for the floor, else roughness in six bits and metal in two.
fn sketched(n: vec3f, color: vec3f) -> vec4u {
    let look = clamp(vec4f(sqrt(max(color, vec3f(0.0))), surface_bits()), vec4f(0.0), vec4f(1.0));
    let c = vec4u(look * 255.0 + 0.5);
    return vec4u(whole(n), c.r << 8u | c.g, c.b << 8u | c.a);
}

// Smoke among transparent bodies has none, as the floor among the others.
fn surface_bits() -> f32 {
    let rough = clamp(round(body.surface.x * 63.0), 1.0, 63.0);
    let metal = round(body.surface.y * 3.0);
    return select((metal * 64.0 + rough) / 255.0, 0.0, max(body.extra.z, body.extra.w) > 0.5);
}

@fragment
fn sketch_plain(p: PlacedPlain, @builtin(front_facing) front: bool) -> @location(0) vec4u {
    return sketched(seen_normal(p.normal, front), body.color.rgb * p.color);
}

@fragment
fn sketch(p: Placed) -> @location(0) vec4u {
    let n = seen_normal(p.normal, p.front);
    let c = body_color(p);
    if c.a < body.surface.z {
        discard;
    }
    return sketched(n, c.rgb);
}
