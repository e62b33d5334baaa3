// The lists of transparent fragments, laid over each other from front to back.

struct Fragment {
    // Place of the next fragment plus one, 0 at the end; the top four bits are the samples covered.
    next: u32,
    depth: f32,
    // The normal in two times twelve bits, then roughness and metal.
    surface: u32,
    // Square roots of colour and opacity, in eight bits each.
    color: u32,
}

@group(1) @binding(0) var<storage, read> heads: array<u32>;
@group(1) @binding(1) var<storage, read> fragments: array<Fragment>;
@group(1) @binding(2) var shadow_map: texture_2d<f32>;
// How many pixels have more layers than are sorted.
@group(1) @binding(3) var<storage, read_write> crowded: atomic<u32>;

// The nearest so many are sorted.
const LAYERS: u32 = 64u;

// What passes all layers and is too little to be seen.
const NOTHING_PASSES: f32 = 0.002;

// True if `a` is in front of `b`. Equal depth is decided by what is there: never by the order of arrival.
fn in_front(a: Fragment, b: Fragment) -> bool {
    let same = a.depth == b.depth;
    return a.depth < b.depth || (same && (a.surface < b.surface || (a.surface == b.surface && a.color < b.color)));
}

fn covers(f: Fragment) -> vec4f {
    return vec4f((vec4u(f.next >> 28u) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u));
}

// Share of the key light that the opaque bodies let through; fewer taps than for one of them, since
// fragments are many.
fn key_arrives(position: vec3f, n: vec3f, toward: f32) -> f32 {
    let r = receiver(position, n, toward);
    if !inside(r.at.xy) {
        return 1.0;
    }
    return key_visibility(r, Spiral(0.5, vec2f(1.0, 0.0)), frame.taps.yz / 2u);
}

// Smoke scatters light to all sides; how it lies towards a light is just enough to tell folds apart.
fn smoke_light(albedo: vec3f, n: vec3f, position: vec3f) -> vec3f {
    var light = 0.5 * (frame.sky_color.rgb + frame.bounce_color.rgb);
    for (var i = 0u; i < frame.counts.x; i++) {
        let source = frame.lights[i];
        let facing = abs(dot(n, source.towards.xyz));
        var arrives = 1.0;
        if i == KEY {
            arrives = key_arrives(position, source.towards.xyz, 1.0);
        }
        light += (0.55 + 0.3 * facing) * arrives * source.color.rgb;
    }
    return albedo * light;
}

// Light and cover of a sheet. Seen at a slant it is longer to look through.
fn sheet_light(f: Fragment, pixel: vec2f) -> vec4f {
    let c = unpack4x8unorm(f.color) * unpack4x8unorm(f.color);
    let n = from_octahedral(vec2f(vec2u(f.surface >> 20u, (f.surface >> 8u) & 0xfffu)) / 2047.0 - 1.0);
    let m = Material(c.rgb, f32(f.surface & 63u) / 63.0, f32((f.surface >> 6u) & 3u) / 3.0);
    let position = world_position(pixel, distance_of(f.depth));
    let v = towards_eye(position);
    if (f.surface & 255u) == 0u {
        return vec4f(smoke_light(c.rgb, n, position), c.a);
    }
    let slant = clamp(abs(dot(n, v)), 0.25, 1.0);
    let cover = 1.0 - pow(1.0 - c.a, 1.0 / slant);
    let towards_key = dot(n, frame.lights[KEY].towards.xyz);
    let key = vec3f(key_arrives(position, select(-n, n, towards_key > 0.0), abs(towards_key)));
    let edge = 1.0 - abs(dot(n, v));
    let through = 0.5 * edge * edge * edge;
    var light = vec3f(0.0);
    for (var side = 0u; side < frame.counts.z; side++) {
        let behind = side == 1u;
        light += select(1.0 - through, through, behind) * lit(m, select(n, -n, behind), v, key, 1.0);
    }
    return vec4f(light, cover);
}

fn is_same(a: Fragment, b: Fragment) -> bool {
    return a.depth == b.depth && a.surface == b.surface && a.color == b.color;
}

// The fragments of a pixel that lie behind one of them, taken together.
struct Rest {
    color: vec3f,
    // How much passes all of them, at each sample.
    passes: vec4f,
}

fn rest_behind(last: Fragment, first: u32) -> Rest {
    var color = vec4f(0.0);
    var passes = vec4f(1.0);
    var link = first;
    while link != 0u {
        let f = fragments[link - 1u];
        let root = unpack4x8unorm(f.color);
        let c = root * root * f32(in_front(last, f));
        color += vec4f(c.rgb * c.a, c.a);
        passes *= 1.0 - c.a * covers(f);
        link = f.next & 0x0fffffffu;
    }
    return Rest(color.rgb / max(color.a, 1e-6), passes);
}

@fragment
fn resolve(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let first = heads[1u + u32(at.y) * u32(frame.size.x) + u32(at.x)];
    let samples = select(vec4f(1.0, 0.0, 0.0, 0.0), vec4f(0.25), SAMPLES > 1);
    var light = vec3f(0.0);
    // How much still passes, at each sample.
    var passes = vec4f(1.0);
    // The fragment laid over last.
    var last = Fragment(0u, -1.0, 0u, 0u);
    // One more than are sorted: the last one is the mean of all the others.
    for (var layer = 0u; layer <= LAYERS; layer++) {
        let is_rest = layer == LAYERS;
        var found = Fragment(0u, 2.0, 0u, 0u);
        // How often each sample is covered by what was found: the same may be there twice.
        var times = vec4f(0.0);
        var link = first;
        while link != 0u {
            let f = fragments[link - 1u];
            if in_front(last, f) && in_front(f, found) {
                found = f;
                times = vec4f(0.0);
            }
            times += covers(f) * f32(is_same(f, found));
            link = f.next & 0x0fffffffu;
        }
        if found.depth > 1.0 {
            break;
        }
        let rest = rest_behind(last, select(0u, first, is_rest));
        if is_rest {
            found.color = pack4x8unorm(vec4f(sqrt(rest.color), 1.0));
            atomicAdd(&crowded, 1u);
        }
        let sheet = sheet_light(found, at.xy);
        let once = 1.0 - sheet.a;
        let own = select(vec4f(1.0), vec4f(once), times > vec4f(0.5)) * select(vec4f(1.0), vec4f(once), times > vec4f(1.5));
        let through = select(own, rest.passes, is_rest);
        light += dot(passes * (1.0 - through), samples) * sheet.rgb;
        passes *= through;
        last = found;
        if dot(passes, samples) < NOTHING_PASSES {
            break;
        }
    }
    return vec4f(light, 1.0 - dot(passes, samples));
}
