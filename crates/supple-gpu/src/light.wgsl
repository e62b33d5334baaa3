// How light falls on a surface: key, fill and rim light, sky and floor.

// Reflected light: direct light on a rough surface with a highlight (GGX).
fn reflect_light(albedo: vec3f, n: vec3f, v: vec3f, l: vec3f, color: vec3f) -> vec3f {
    let n_l = max(dot(n, l), 0.0);
    let n_v = max(dot(n, v), 1e-3);
    let h = normalize(l + v);
    let n_h = max(dot(n, h), 0.0);
    let metallic = body.surface.y;
    let a = max(body.surface.x * body.surface.x, 0.03);
    let k = n_h * n_h * (a * a - 1.0) + 1.0;
    let spread = a * a / (4.0 * k * k);
    let visible = 1.0 / max(mix(2.0 * n_l * n_v, n_l + n_v, a), 1e-3);
    let at_normal = mix(vec3f(0.04), albedo, metallic);
    let fresnel = at_normal + (1.0 - at_normal) * pow(1.0 - max(dot(h, v), 0.0), 5.0);
    let diffuse = albedo * (1.0 - metallic) * (1.0 - fresnel);
    return (diffuse + fresnel * spread * visible) * color * n_l;
}

// Light from everywhere: sky above, light from the floor below, and its mirror image.
fn surround(albedo: vec3f, n: vec3f, v: vec3f) -> vec3f {
    let metallic = body.surface.y;
    let sky = mix(frame.bounce_color.rgb, frame.sky_color.rgb, 0.5 + 0.5 * dot(n, frame.up.xyz));
    let mirrored = mix(frame.bounce_color.rgb, frame.sky_color.rgb,
        smoothstep(-0.4, 0.6, dot(reflect(-v, n), frame.up.xyz)));
    let rough = body.surface.x;
    let grazing = pow(1.0 - max(dot(n, v), 0.0), 5.0) * (1.0 - rough) ;
    let at_normal = mix(vec3f(0.04), albedo, metallic);
    let mirror = at_normal + (max(vec3f(1.0 - rough), at_normal) - at_normal) * grazing;
    return albedo * (1.0 - metallic) * sky + mirror * mirrored;
}

// `key` is how much of the key light arrives, `ambient` how much of the light from everywhere.
fn lit(albedo: vec3f, n: vec3f, position: vec3f, key: vec3f, ambient: f32) -> vec3f {
    let v = normalize(mix(frame.world_from_view[2].xyz, frame.eye.xyz - position, frame.eye.w));
    var light = reflect_light(albedo, n, v, frame.key.xyz, frame.key_color.rgb) * key;
    light += reflect_light(albedo, n, v, frame.fill.xyz, frame.fill_color.rgb) * mix(ambient, 1.0, 0.4);
    light += reflect_light(albedo, n, v, frame.rim.xyz, frame.rim_color.rgb) * mix(ambient, 1.0, 0.4);
    return light + surround(albedo, n, v) * ambient;
}
