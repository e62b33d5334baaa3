#!/usr/bin/env python3
"""Where drifters end up on the oceans of the test data, by another program in double precision.

    scripts/ocean_positions.py DIR

DIR is the folder `flow` of the test data. Needs numpy and netCDF4. Prints the tables of
`positions_on_files_of_the_data_are_those_of_another_program` in crates/supple/tests/ocean.rs: starts, and ends by
Runge-Kutta steps of a sixtieth of what the test takes. Drifters that come within a cell of land are left out: there the
answer depends on how a coast is understood.
"""

import pathlib
import sys

import netCDF4
import numpy as np

RADIUS = 6_371_000.0


def carried(velocity, x, times, steps):
    """The classical method; None where there is no velocity."""
    h = (times[1] - times[0]) / steps
    for k in range(steps):
        t, slopes = times[0] + k * h, []
        for reach in (0.0, 0.5, 0.5, 1.0):
            slope = velocity(x + reach * h * slopes[-1] if slopes else x, t + reach * h)
            if slope is None:
                return None
            slopes.append(slope)
        x = x + h / 6 * (slopes[0] + 2 * slopes[1] + 2 * slopes[2] + slopes[3])
    return x


def unpacked(file, name):
    """Numbers of a variable, whatever limits it says: those of packed ones are wrong in many files."""
    variable = file[name]
    variable.set_auto_maskandscale(False)
    numbers = np.asarray(variable[:]).astype(float)
    return numbers * float(getattr(variable, "scale_factor", 1)) + float(getattr(variable, "add_offset", 0))


def corners_of(i, j):
    return [(j, i), (j, i + 1), (j + 1, i), (j + 1, i + 1)]


def weights_of(r, s):
    return [(1 - r) * (1 - s), r * (1 - s), (1 - r) * s, r * s]


def peninsula(folder):
    """A pair as NEMO writes it, both components at the same points, in metres; land does not move."""
    files = [netCDF4.Dataset(folder / f"peninsula/peninsula{c}.nc") for c in "UV"]
    u, v = (unpacked(f, n)[0, 0] for f, n in zip(files, ("vozocrtx", "vomecrty")))
    x_axis, y_axis = unpacked(files[0], "nav_lon")[0], unpacked(files[0], "nav_lat")[:, 0]
    sea = (u != 0) | (v != 0)

    def velocity(x, _):
        i, j = (np.searchsorted(axis, c, "right") - 1 for axis, c in zip((x_axis, y_axis), x))
        if not (0 <= i < len(x_axis) - 1 and 0 <= j < len(y_axis) - 1):
            return None
        if not sea[max(0, j - 1) : j + 3, max(0, i - 1) : i + 3].all():
            return None
        r, s = ((c - axis[k]) / (axis[k + 1] - axis[k]) for axis, c, k in ((x_axis, x[0], i), (y_axis, x[1], j)))
        at = list(zip(weights_of(r, s), corners_of(i, j)))
        return np.array([sum(w * field[k] for w, k in at) for field in (u, v)])

    starts = [[8000.0, 3000.0 + 4500.0 * k] for k in range(9)]
    return starts, [carried(velocity, np.array(x), [0.0, 40_000.0], 4000) for x in starts]


class Roms:
    """u and v on faces, brought to the corners between four cells and turned; layers over the floor, the surface at rest."""

    def __init__(self, path):
        file = netCDF4.Dataset(path)
        of = lambda name: unpacked(file, name)
        middle = lambda a: 0.25 * (a[:-1, :-1] + a[:-1, 1:] + a[1:, :-1] + a[1:, 1:])
        self.times, self.sea = of("ocean_time"), of("mask_rho") > 0.5
        self.at = np.stack([middle(of("lon_rho")), middle(of("lat_rho"))], -1)
        depth, angle = middle(of("h")), of("angle")
        angle = np.arctan2(middle(np.sin(angle)), middle(np.cos(angle)))
        s, stretching, critical = of("s_rho")[:, None, None], of("Cs_r")[:, None, None], float(of("hc"))
        assert int(of("Vtransform")) == 2
        layers = depth * (critical * s + depth * stretching) / (depth + critical)
        self.z = np.concatenate([-depth[None], layers, 0 * depth[None]])
        u, v = of("u"), of("v")
        u = 0.5 * (u[:, :, :-1, :-1] + u[:, :, 1:, :-1])
        v = 0.5 * (v[:, :, :-1, :-1] + v[:, :, :-1, 1:])
        filled = lambda a: np.concatenate([a[:, :1], a, a[:, -1:]], 1)
        self.east = filled(u * np.cos(angle) - v * np.sin(angle))
        self.north = filled(u * np.sin(angle) + v * np.cos(angle))

    def within(self, i, j, x):
        """Where a place is in a cell, by Newton's steps."""
        a, b, c, d = (self.at[k] for k in corners_of(i, j))
        place = np.array([0.5, 0.5])
        for _ in range(30):
            r, s = place
            off = x - ((1 - s) * ((1 - r) * a + r * b) + s * ((1 - r) * c + r * d))
            along = [(1 - s) * (b - a) + s * (d - c), (1 - r) * (c - a) + r * (d - b)]
            step = np.linalg.solve(np.stack(along, 1), off)
            place = place + step
            if np.abs(step).sum() < 1e-13:
                break
        return place if ((place > -1e-9) & (place < 1 + 1e-9)).all() else None

    def find(self, x, near):
        rows, columns = self.at.shape[0] - 1, self.at.shape[1] - 1
        for i, j in [tuple(near)] + [(i, j) for j in range(rows) for i in range(columns)]:
            place = self.within(i, j, x)
            if place is not None:
                near[:] = [i, j]
                return i, j, place
        return None

    def velocity_at(self, depth, near):
        def velocity(x, t):
            found = self.find(x, near)
            if found is None:
                return None
            i, j, place = found
            if not self.sea[j : j + 3, i : i + 3].all():
                return None
            at = list(zip(weights_of(*place), corners_of(i, j)))
            z = sum(w * self.z[:, k[0], k[1]] for w, k in at)
            layer = np.searchsorted(z, depth, "right") - 1
            up = (depth - z[layer]) / (z[layer + 1] - z[layer])
            after = min(max(np.searchsorted(self.times, t, "right"), 1), len(self.times) - 1)
            late = (t - self.times[after - 1]) / (self.times[after] - self.times[after - 1])

            def sample(field):
                both = (1 - late) * field[after - 1] + late * field[after]
                return sum(w * ((1 - up) * both[layer][k] + up * both[layer + 1][k]) for w, k in at)

            degree = 180 / np.pi / RADIUS
            return degree * np.array([sample(self.east) / np.cos(np.radians(x[1])), sample(self.north)])

        return velocity


def roms(folder):
    ocean = Roms(folder / "opendrift_nordic_roms/Nordic_subset.nc")
    starts = [[13.2697, 67.1207], [13.5419, 67.2248], [14.0937, 67.4316], [14.3737, 67.5343]]
    starts += [[13.4074, 67.2776], [14.2392, 67.5879], [13.0001, 67.2258], [14.3869, 67.7442]]
    times = [ocean.times[0], ocean.times[0] + 129_600.0]
    return starts, [carried(ocean.velocity_at(-5.0, [12, 12]), np.array(x), times, 540) for x in starts]


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, digits, (starts, ends) in [("peninsula", 4, peninsula(folder)), ("ROMS", 7, roms(folder))]:
        print(name)
        for start, end in zip(starts, ends):
            if end is not None:
                print(f"    ({list(start)}, [{end[0]:.{digits}f}, {end[1]:.{digits}f}]),")


if __name__ == "__main__":
    main()
