// The lists of transparent fragments, sorted and laid over each other from front to back.

struct Fragment {
    next: u32,
    depth: f32,
    light_rg: u32,
    light_ba: u32,
}

const BRIGHTEST: f32 = 8.0;

@group(1) @binding(0) var<storage, read> heads: array<u32>;
@group(1) @binding(1) var<storage, read> fragments: array<Fragment>;

// The nearest so many are drawn.
const LAYERS: u32 = 64u;

// True if `a` is in front of `b`. Equal depth is decided by what is there: never by the order of arrival.
fn in_front(a: Fragment, b: Fragment) -> bool {
    if a.depth != b.depth {
        return a.depth < b.depth;
    }
    if a.light_ba != b.light_ba {
        return a.light_ba < b.light_ba;
    }
    return a.light_rg < b.light_rg;
}

@fragment
fn resolve(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = 1u + u32(at.y) * u32(frame.size.x) + u32(at.x);
    var link = heads[pixel];
    if link == 0u {
        return vec4f(0.0);
    }
    var order: array<u32, LAYERS>;
    var count = 0u;
    while link != 0u {
        let here = fragments[link - 1u];
        let full = count == LAYERS;
        // Of too many the farthest is left out.
        var k = select(count, LAYERS, full);
        if full && in_front(here, fragments[order[LAYERS - 1u]]) {
            k = LAYERS - 1u;
        }
        if k < LAYERS {
            while k > 0u {
                let before = order[k - 1u];
                if !in_front(here, fragments[before]) {
                    break;
                }
                order[k] = before;
                k = k - 1u;
            }
            order[k] = link - 1u;
            count = min(count + 1u, LAYERS);
        }
        link = here.next & 0x0fffffffu;
    }
    var light = vec3f(0.0);
    // How much still passes, at each sample.
    var passes = vec4f(1.0);
    for (var k = 0u; k < count; k++) {
        let f = fragments[order[k]];
        let rg = unpack2x16unorm(f.light_rg) * BRIGHTEST;
        let ba = unpack2x16unorm(f.light_ba) * vec2f(BRIGHTEST, 1.0);
        let covers = vec4f((vec4u(f.next >> 28u) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u));
        let reached = dot(passes * covers, vec4f(1.0)) / f32(SAMPLES);
        light += reached * vec3f(rg, ba.x);
        passes *= 1.0 - ba.y * covers;
    }
    let samples = select(vec4f(1.0, 0.0, 0.0, 0.0), vec4f(0.25), SAMPLES > 1);
    return vec4f(light, 1.0 - dot(passes, samples));
}
