// How light falls on a surface: key, fill and rim light, sky and floor.

struct Material {
    albedo: vec3f,
    roughness: f32,
    metallic: f32,
}

// Direct light on a rough surface with a highlight (GGX).
fn reflect_light(m: Material, n: vec3f, v: vec3f, l: vec3f, color: vec3f) -> vec3f {
    let n_l = max(dot(n, l), 0.0);
    let n_v = max(dot(n, v), 1e-3);
    let h = normalize(l + v);
    let n_h = max(dot(n, h), 0.0);
    // The lights are large: their highlights are never small.
    let a = max(m.roughness * m.roughness, 0.09);
    let k = n_h * n_h * (a * a - 1.0) + 1.0;
    let spread = a * a / (4.0 * k * k);
    let visible = 1.0 / max(mix(2.0 * n_l * n_v, n_l + n_v, a), 1e-3);
    let at_normal = mix(vec3f(0.04), m.albedo, m.metallic);
    let away = 1.0 - max(dot(h, v), 0.0);
    let fresnel = at_normal + (1.0 - at_normal) * (away * away) * (away * away) * away;
    let diffuse = m.albedo * (1.0 - m.metallic) * (1.0 - fresnel);
    return (diffuse + fresnel * spread * visible) * color * n_l;
}

// Light from everywhere: sky above, light from the floor below, and its mirror image.
fn surround(m: Material, n: vec3f, v: vec3f) -> vec3f {
    let sky = mix(frame.bounce_color.rgb, frame.sky_color.rgb, 0.5 + 0.5 * dot(n, frame.up.xyz));
    let mirrored = mix(frame.bounce_color.rgb, frame.sky_color.rgb,
        smoothstep(-0.4, 0.6, dot(reflect(-v, n), frame.up.xyz)));
    let away = 1.0 - max(dot(n, v), 0.0);
    let grazing = (away * away) * (away * away) * away;
    let at_normal = mix(vec3f(0.04), m.albedo, m.metallic);
    let mirror = at_normal + (max(vec3f(1.0 - m.roughness), at_normal) - at_normal) * grazing;
    return m.albedo * (1.0 - m.metallic) * sky + mirror * mirrored;
}

// `key` is how much of the key light arrives, `ambient` how much of the light from everywhere.
fn lit(m: Material, n: vec3f, v: vec3f, key: vec3f, ambient: f32) -> vec3f {
    let sides = vec3f(mix(ambient, 1.0, 0.4));
    var light = surround(m, n, v) * ambient;
    var i = 0u;
    loop {
        let source = frame.lights[i];
        light += reflect_light(m, n, v, source.towards.xyz, source.color.rgb) * select(sides, key, i == KEY);
        i++;
        if i >= frame.counts.x {
            break;
        }
    }
    return light;
}
