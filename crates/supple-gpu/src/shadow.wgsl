// What the key light sees.

struct Caster {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
    @location(1) alpha: f32,
    @location(2) normal: vec3f,
    @location(3) color: vec3f,
}

fn on_map(position: vec3f) -> vec4f {
    let p = (frame.shadow_from_world * vec4f(position, 1.0)).xyz;
    return vec4f(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, p.z, 1.0);
}

// Of most bodies only the place matters.
@vertex
fn throw_opaque(@location(0) position: vec3f) -> @builtin(position) vec4f {
    return on_map(position);
}

@vertex
fn throw_shadow(v: Vertex) -> Caster {
    let clip = on_map(v.position);
    let color = v.color * v.color;
    return Caster(clip, v.uv, color.a, v.normal, color.rgb);
}

// Cut-out materials throw the shadow of what is left.
@fragment
fn cast_cutout(c: Caster) {
    let alpha = body.color.a * c.alpha * textureSample(base_texture, base_sampler, c.uv).a;
    if alpha < body.surface.z {
        discard;
    }
}

// What passes through a transparent surface; surfaces multiply, so their order does not matter.
@fragment
fn cast_transmittance(c: Caster) -> @location(0) vec4f {
    let texel = textureSample(base_texture, base_sampler, c.uv);
    let alpha = body.color.a * c.alpha * texel.a * body.surface.w;
    // A slanted sheet is longer to cross.
    let slant = clamp(abs(dot(normalize(c.normal + vec3f(1e-8)), frame.lights[KEY].towards.xyz)), 0.15, 1.0);
    let through = pow(1.0 - clamp(alpha, 0.0, 1.0), 1.0 / slant);
    let tint = body.color.rgb * c.color * texel.rgb;
    let brightest = max(max(tint.r, max(tint.g, tint.b)), 1e-4);
    return vec4f(mix(mix(tint / brightest, vec3f(1.0), 0.35) * through, vec3f(1.0), through), 1.0);
}
