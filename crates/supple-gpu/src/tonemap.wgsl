// From light to eight bits.

// Khronos PBR Neutral: colours stay what they are, only highlights are compressed.
fn neutral(light: vec3f) -> vec3f {
    let knee = 0.8 - 0.04;
    let low = min(light.r, min(light.g, light.b));
    let offset = select(0.04, low - 6.25 * low * low, low < 0.08);
    let c = light - offset;
    let peak = max(c.r, max(c.g, c.b));
    if peak < knee {
        return c;
    }
    let d = 1.0 - knee;
    let new_peak = 1.0 - d * d / (peak + d - knee);
    let g = 1.0 - 1.0 / (0.15 * (peak - new_peak) + 1.0);
    return mix(c * new_peak / peak, vec3f(new_peak), g);
}

// sRGB to a tenth of a step of eight bits, without the powers that drivers take long to compile.
fn encoded(c: vec3f) -> vec3f {
    let v = clamp(c, vec3f(0.0), vec3f(1.0));
    let root = sqrt(v);
    let curve = 0.83375144 * root + 0.29810974 * sqrt(root) - 0.05531654 * v - 0.07690398;
    return select(curve, 12.92 * v, v <= vec3f(0.0031308));
}

// An ordered pattern of less than one step of eight bits, against bands in soft gradients.
fn dither(p: vec2u) -> f32 {
    let x = p.x ^ p.y;
    let y = p.y;
    var v = 0u;
    for (var i = 0u; i < 3u; i++) {
        v = (v << 2u) | (((x >> i) & 1u) << 1u) | ((y >> i) & 1u);
    }
    return (f32(v) + 0.5) / 64.0 - 0.5;
}
