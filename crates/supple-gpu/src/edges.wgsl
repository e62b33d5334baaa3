// Softens the jagged edges of a picture with one sample a pixel: where brightness jumps, colours are averaged along
// the edge.

@group(0) @binding(0) var rough: texture_2d<f32>;
@group(0) @binding(1) var between: sampler;

// Jumps below this share of the brightest neighbour, or below this step, are no edges.
const LEAST_SHARE: f32 = 0.125;
const LEAST: f32 = 0.03;
// How far along an edge is looked, in pixels.
const FARTHEST: f32 = 8.0;

fn brightness(c: vec4f) -> f32 {
    return dot(c.rgb, vec3f(0.299, 0.587, 0.114)) * c.a;
}

fn pixel(p: vec2i, limit: vec2i) -> vec4f {
    return textureLoad(rough, clamp(p, vec2i(0), limit), 0);
}

@fragment
fn soften(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let p = vec2i(at.xy);
    let size = vec2f(textureDimensions(rough));
    let limit = vec2i(size) - 1;
    let own = pixel(p, limit);
    let here = brightness(own);
    let nw = brightness(pixel(p + vec2i(-1, -1), limit));
    let ne = brightness(pixel(p + vec2i(1, -1), limit));
    let sw = brightness(pixel(p + vec2i(-1, 1), limit));
    let se = brightness(pixel(p + vec2i(1, 1), limit));
    let least = min(here, min(min(nw, ne), min(sw, se)));
    let most = max(here, max(max(nw, ne), max(sw, se)));
    if most - least < max(LEAST, LEAST_SHARE * most) {
        return own;
    }
    // Across the gradient, and the farther the more level it is.
    let along = vec2f(sw + se - nw - ne, nw + sw - ne - se);
    let damped = 0.03125 * (nw + ne + sw + se) + 0.0078125;
    let steep = 1.0 / (min(abs(along.x), abs(along.y)) + damped);
    let way = clamp(along * steep, vec2f(-FARTHEST), vec2f(FARTHEST)) / size;
    let middle = at.xy / size;
    let near = 0.5 * (textureSampleLevel(rough, between, middle - way / 6.0, 0.0)
        + textureSampleLevel(rough, between, middle + way / 6.0, 0.0));
    let far = 0.5 * near + 0.25 * (textureSampleLevel(rough, between, middle - 0.5 * way, 0.0)
        + textureSampleLevel(rough, between, middle + 0.5 * way, 0.0));
    let reached = brightness(far);
    // Beyond the end of an edge there is another colour.
    return select(far, near, reached < least || reached > most);
}
