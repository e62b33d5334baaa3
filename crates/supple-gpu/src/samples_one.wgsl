alias Depths = texture_depth_2d;
